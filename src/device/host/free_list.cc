#include "device/host/free_list.h"

#include <iterator>

#include "base/assert.h"

namespace tutti::device {

FreeList::FreeList(std::uint64_t bytes) {
  if (bytes > 0) insert(0, bytes);
}

std::optional<std::uint64_t> FreeList::take(std::uint64_t bytes, std::uint64_t alignment) {
  TUTTI_ASSERT(bytes > 0 && alignment > 0 && (alignment & (alignment - 1)) == 0, "pieces have a size and an alignment");
  for (auto part = by_size_.lower_bound({bytes, 0}); part != by_size_.end(); ++part) {
    const auto [part_bytes, part_offset] = *part;
    const std::uint64_t skipped = (alignment - part_offset % alignment) % alignment;
    if (skipped > part_bytes - bytes) continue;
    erase(part_offset, part_bytes);
    if (skipped > 0) insert(part_offset, skipped);
    const std::uint64_t rest = part_bytes - skipped - bytes;
    if (rest > 0) insert(part_offset + skipped + bytes, rest);
    return part_offset + skipped;
  }
  return std::nullopt;
}

void FreeList::give(std::uint64_t offset, std::uint64_t bytes) {
  if (const auto next = by_offset_.lower_bound(offset); next != by_offset_.end()) {
    const auto [next_offset, next_bytes] = *next;
    TUTTI_ASSERT(next_offset >= offset + bytes, "a piece of memory is given back once");
    if (next_offset == offset + bytes) {
      erase(next_offset, next_bytes);
      bytes += next_bytes;
    }
  }
  if (const auto next = by_offset_.lower_bound(offset); next != by_offset_.begin()) {
    const auto [previous_offset, previous_bytes] = *std::prev(next);
    TUTTI_ASSERT(previous_offset + previous_bytes <= offset, "a piece of memory is given back once");
    if (previous_offset + previous_bytes == offset) {
      erase(previous_offset, previous_bytes);
      offset = previous_offset;
      bytes += previous_bytes;
    }
  }
  insert(offset, bytes);
}

void FreeList::insert(std::uint64_t offset, std::uint64_t bytes) {
  by_offset_.emplace(offset, bytes);
  by_size_.emplace(bytes, offset);
  free_bytes_ += bytes;
}

void FreeList::erase(std::uint64_t offset, std::uint64_t bytes) {
  by_size_.erase({bytes, offset});
  by_offset_.erase(offset);
  free_bytes_ -= bytes;
}

}  // namespace tutti::device

#include "device/host/allocations.h"

#include <utility>

#include "device/host/heap.h"

namespace tutti::device {
namespace {

std::uintptr_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

}  // namespace

Allocations& Allocations::of_process() {
  // Never destroyed: static objects of the program may free memory at the very end.
  static Allocations& allocations = *new Allocations;
  return allocations;
}

Result<std::span<std::byte>> Allocations::allocate(std::size_t bytes, MemoryKind kind, int device, unsigned flags) {
  if (bytes == 0) return std::span<std::byte>();
  TUTTI_ASSIGN(Heap* const heap, Heap::of_process());
  // Small pieces of the heap are aligned to less.
  const std::size_t slack = bytes < heap->limit_bytes() ? kAlignment - 1 : 0;
  TUTTI_ASSIGN(const std::span<std::byte> piece, heap->allocate(bytes + slack));
  const std::size_t skipped = (kAlignment - address_of(piece.data()) % kAlignment) % kAlignment;
  const auto usable = piece.subspan(skipped, bytes);
  const std::lock_guard lock(mutex_);
  by_address_[address_of(usable.data())] = {
      .bytes = usable, .kind = kind, .device = device, .flags = flags, .piece = piece};
  return usable;
}

bool Allocations::add_registered(std::span<std::byte> bytes, int device, unsigned flags) {
  const std::uintptr_t first = address_of(bytes.data());
  const std::lock_guard lock(mutex_);
  const auto next = by_address_.lower_bound(first);
  if (next != by_address_.end() && next->first - first < bytes.size()) return false;
  if (find_locked(first)) return false;
  by_address_[first] = {.bytes = bytes, .kind = MemoryKind::registered, .device = device, .flags = flags};
  return true;
}

std::optional<Allocation> Allocations::find_locked(std::uintptr_t address) const {
  auto after = by_address_.upper_bound(address);
  if (after == by_address_.begin()) return std::nullopt;
  const auto& [first, allocation] = *--after;
  return address - first < allocation.bytes.size() ? std::optional(allocation) : std::nullopt;
}

std::optional<Allocation> Allocations::find(const void* data) const {
  const std::lock_guard lock(mutex_);
  return find_locked(address_of(data));
}

std::optional<Allocation> Allocations::take(const void* data) {
  const std::lock_guard lock(mutex_);
  const auto found = by_address_.find(address_of(data));
  if (found == by_address_.end()) return std::nullopt;
  return by_address_.extract(found).mapped();
}

std::vector<Allocation> Allocations::take_all(int device) {
  std::vector<Allocation> taken;
  const std::lock_guard lock(mutex_);
  std::erase_if(by_address_, [&](const auto& entry) {
    const bool is_wanted = entry.second.device == device && entry.second.kind == MemoryKind::device;
    if (is_wanted) taken.push_back(entry.second);
    return is_wanted;
  });
  return taken;
}

void Allocations::give_back(const Allocation& allocation) {
  if (Heap* const heap = Heap::existing(); heap != nullptr) heap->free(allocation.piece);
}

}  // namespace tutti::device

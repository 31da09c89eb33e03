// Which parts of a range of memory are free: takes pieces out and joins those that come back. Knows offsets only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tutti::device {

class FreeList {
 public:
  explicit FreeList(std::uint64_t bytes);  // all of it free

  // The offset of a piece, from the smallest free part that holds it; nullopt when there is none. The alignment is a
  // power of two.
  std::optional<std::uint64_t> take(std::uint64_t bytes, std::uint64_t alignment);
  // A piece that was taken, whole.
  void give(std::uint64_t offset, std::uint64_t bytes);

  std::uint64_t free_bytes() const { return free_bytes_; }
  std::uint64_t largest_bytes() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }

 private:
  void insert(std::uint64_t offset, std::uint64_t bytes);
  void erase(std::uint64_t offset, std::uint64_t bytes);

  std::map<std::uint64_t, std::uint64_t> by_offset_;           // offset, bytes; no two of them touch
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;  // the same as bytes, offset
  std::uint64_t free_bytes_ = 0;
};

}  // namespace tutti::device

// Memory of a caller for tests: of the process alone or of its shared heap, at any alignment, with marked bytes around.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <vector>

#include "tutti/memory.h"

namespace tutti::conformance {

class Area {
 public:
  struct Where {
    bool is_shared = false;
    std::size_t shift = 0;
  };

  Area(std::size_t bytes, Where where) : shift_(where.shift), size_(bytes) {
    const std::size_t whole = bytes + 2 * kGuard + where.shift;
    if (where.is_shared) {
      auto memory = allocate(whole);
      if (!memory) std::abort();
      shared_ = *std::move(memory);
      all_ = shared_.bytes().first(whole);
    } else {
      own_.resize(whole);
      all_ = own_;
    }
    std::fill(all_.begin(), all_.end(), kMark);
  }
  Area(Area&&) noexcept = default;

  std::span<std::byte> bytes() const { return all_.subspan(kGuard + shift_, size_); }
  std::byte* data() const { return bytes().data(); }
  bool is_intact() const {
    const auto is_mark = [](std::byte byte) { return byte == kMark; };
    const auto before = all_.first(kGuard + shift_);
    const auto after = all_.subspan(kGuard + shift_ + size_);
    return std::all_of(before.begin(), before.end(), is_mark) && std::all_of(after.begin(), after.end(), is_mark);
  }

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr std::byte kMark{0xc5};
  std::size_t shift_;
  std::size_t size_;
  std::vector<std::byte> own_;
  Memory shared_;
  std::span<std::byte> all_;
};

}  // namespace tutti::conformance

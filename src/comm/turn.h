// Who may use a channel now: calls take a number when they are made and run in that order, whichever threads run them.
#pragma once

#include <atomic>
#include <cstdint>

namespace tutti::comm {

class Turn {
 public:
  std::uint32_t take() { return next_.fetch_add(1, std::memory_order_relaxed); }
  // acquire: pairs with the release in pass(), so that a call sees what the one before left behind
  bool is_served(std::uint32_t number) const { return serving_.load(std::memory_order_acquire) == number; }
  // How many calls come before this one, which is not served yet.
  std::uint32_t ahead_of(std::uint32_t number) const { return number - serving_.load(std::memory_order_acquire); }
  void pass() { serving_.store(serving_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  bool is_idle() const { return serving_.load(std::memory_order_acquire) == next_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> next_ = 0;
  std::atomic<std::uint32_t> serving_ = 0;
};

}  // namespace tutti::comm

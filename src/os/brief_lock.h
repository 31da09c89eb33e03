// A lock for a few lines that hardly ever meet.
#pragma once

#include <atomic>

#include "os/relax.h"

namespace tutti::os {

// Half the price of std::mutex where nobody else wants it, since letting go is a plain store. Whoever waits looks again
// and again and lets others have the core: nothing may be done under it that takes long.
class BriefLock {
 public:
  void lock() {
    while (is_taken_.exchange(true, std::memory_order_acquire)) [[unlikely]] wait();
  }
  // release: pairs with the acquire above
  void unlock() { is_taken_.store(false, std::memory_order_release); }

 private:
  void wait() const;

  std::atomic<bool> is_taken_ = false;
};

}  // namespace tutti::os

#include "os/brief_lock.h"

#include <chrono>
#include <thread>

namespace tutti::os {
namespace {

constexpr int kLooks = 64;
constexpr int kYields = 64;
// The owner may have lost its core to a thread that yields to none but its equals: this gives it back.
constexpr std::chrono::microseconds kNap(50);

}  // namespace

void BriefLock::wait() const {
  for (int i = 0; is_taken_.load(std::memory_order_relaxed); ++i) {
    if (i < kLooks) {
      relax();
    } else if (i < kLooks + kYields) {
      yield_core();
    } else {
      std::this_thread::sleep_for(kNap);
    }
  }
}

}  // namespace tutti::os

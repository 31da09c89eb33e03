#include "os/clock.h"

#include <ctime>

namespace tutti::os {

Time now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  return {static_cast<std::uint64_t>(time.tv_sec) * kNsPerSecond + static_cast<std::uint64_t>(time.tv_nsec)};
}

std::chrono::system_clock::time_point wall_now() { return std::chrono::system_clock::now(); }

}  // namespace tutti::os

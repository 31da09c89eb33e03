#include "os/poll.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "os/clock.h"

namespace tutti::os {

bool poll_until(int fd, short events, Deadline deadline) {
  constexpr std::uint64_t kSliceNs = 3'600'000'000'000;  // what fits any timespec; the loop does the rest
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  while (true) {
    const Time time = now();
    const std::uint64_t left = deadline.has_passed(time) ? 0 : deadline.at.ns - time.ns;
    const std::uint64_t slice = std::min(left, kSliceNs);
    const timespec timeout{static_cast<time_t>(slice / kNsPerSecond), static_cast<long>(slice % kNsPerSecond)};
    pollfd entry{fd, events, 0};
    const int ready = ::ppoll(&entry, 1, &timeout, nullptr);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
    if (left == 0) return false;
  }
}

}  // namespace tutti::os

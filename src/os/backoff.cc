#include "os/backoff.h"

#include <algorithm>
#include <ctime>

#include "os/clock.h"

namespace tutti::os {

void Backoff::pause(Deadline deadline) {
  const Time time = now();
  if (deadline.has_passed(time)) return;
  const std::uint64_t ns = std::min(next_ns_, deadline.at.ns - time.ns);
  next_ns_ = std::min(2 * next_ns_, kLastNs);
  const timespec pause{0, static_cast<long>(ns)};  // kLastNs is far below a second
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
}

}  // namespace tutti::os

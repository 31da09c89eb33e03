// Asking again after growing pauses, for what nobody wakes us up for: files, and sockets that are not there yet.
#pragma once

#include <cstdint>

#include "base/deadline.h"

namespace tutti::os {

class Backoff {
 public:
  static constexpr std::uint64_t kFirstNs = 50'000;    // ranks that start together meet without a noticeable delay
  static constexpr std::uint64_t kLastNs = 5'000'000;  // a rank that waits for minutes takes next to no time

  void pause(Deadline deadline);  // ends at the deadline at the latest, and when a signal comes
  void reset() { next_ns_ = kFirstNs; }

 private:
  std::uint64_t next_ns_ = kFirstNs;
};

}  // namespace tutti::os

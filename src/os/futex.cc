#include "os/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace tutti::os {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "the kernel reads the plain word");
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "a lock would not be shared between processes");

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, Deadline until) {
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  timespec at{};
  at.tv_sec = static_cast<std::time_t>(until.at.ns / kNsPerSecond);
  at.tv_nsec = static_cast<long>(until.at.ns % kNsPerSecond);
  const timespec* limit = until.at == Deadline::never().at ? nullptr : &at;
  // Unlike FUTEX_WAIT, the variant with a bit set takes a moment rather than a duration, on the monotonic clock.
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, expected, limit, nullptr, FUTEX_BITSET_MATCH_ANY);
}

void futex_wake_all(const std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace tutti::os

// Sleeping on a word of memory that several processes may have mapped.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/deadline.h"

namespace tutti::os {

// Returns at once unless the word is `expected`; otherwise on a wake, on a signal, without any cause, or when the
// deadline passes. The caller looks again.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, Deadline until);
// Wakes every waiter of every process. What was stored before it is seen by those it wakes.
void futex_wake_all(const std::atomic<std::uint32_t>& word);

}  // namespace tutti::os

#include "os/futex.h"

#include <gtest/gtest.h>

#include "os/clock.h"
#include "os/segment.h"
#include "os/thread.h"

#include <sys/wait.h>
#include <unistd.h>

namespace tutti::os {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Clock, NeverGoesBack) {
  Time last = now();
  for (int i = 0; i < 1000; ++i) {
    const Time next = now();
    ASSERT_GE(next, last);
    last = next;
  }
}

TEST(Futex, ReturnsAtOnceWhenTheWordHasChanged) {
  const std::atomic<std::uint32_t> word = 1;
  const Deadline limit = Deadline::after(now(), seconds(30));
  futex_wait(word, 0, limit);
  EXPECT_FALSE(limit.has_passed(now()));
}

TEST(Futex, ReturnsWhenTheDeadlinePasses) {
  const std::atomic<std::uint32_t> word = 0;
  const Deadline limit = Deadline::after(now(), milliseconds(20));
  while (!limit.has_passed(now())) futex_wait(word, 0, limit);
  futex_wait(word, 0, limit);
  EXPECT_TRUE(limit.has_passed(now()));
}

// Whoever waits does so without a bound of its own, so that a lost wake hangs the test; ctest has a limit.
TEST(Futex, WakesAThread) {
  std::atomic<std::uint32_t> word = 0;
  std::atomic<std::uint32_t> seen = 0;
  auto waiter = Thread::start("waiter", [&] {
    while (word.load(std::memory_order_acquire) == 0) futex_wait(word, 0, Deadline::never());
    seen = 1;
  });
  ASSERT_TRUE(waiter) << waiter.status().text();
  word.store(1, std::memory_order_release);
  futex_wake_all(word);
  waiter->join();
  EXPECT_EQ(seen, 1u);
}

TEST(Futex, WakesAnotherProcess) {
  const auto segment = Segment::create("futex_test", 4096);
  ASSERT_TRUE(segment) << segment.status().text();
  auto& word = *new (segment->data()) std::atomic<std::uint32_t>(0);
  auto& answer = *new (segment->data() + 64) std::atomic<std::uint32_t>(0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  const Deadline limit = Deadline::after(now(), seconds(60));
  if (child == 0) {
    while (word.load(std::memory_order_acquire) == 0 && !limit.has_passed(now())) futex_wait(word, 0, limit);
    answer.store(word.load() + 1, std::memory_order_release);
    futex_wake_all(answer);
    _exit(0);
  }
  word.store(1, std::memory_order_release);
  futex_wake_all(word);
  while (answer.load(std::memory_order_acquire) == 0 && !limit.has_passed(now())) futex_wait(answer, 0, limit);
  EXPECT_EQ(answer.load(), 2u);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

}  // namespace
}  // namespace tutti::os

#include "os/brief_lock.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace tutti::os {
namespace {

TEST(BriefLock, LetsOneThreadInAtATime) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20000;
  BriefLock lock;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const std::lock_guard guard(lock);
        ++count;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(count, kThreads * kRounds);
}

TEST(BriefLock, IsWaitedForHoweverLongItTakes) {
  BriefLock lock;
  lock.lock();
  std::atomic<bool> is_inside = false;
  std::atomic<bool> has_begun = false;
  std::thread other([&] {
    has_begun = true;
    const std::lock_guard guard(lock);
    is_inside = true;
  });
  while (!has_begun) yield_core();
  for (int i = 0; i < 1000; ++i) yield_core();
  EXPECT_FALSE(is_inside);
  lock.unlock();
  other.join();
  EXPECT_TRUE(is_inside);
}

}  // namespace
}  // namespace tutti::os

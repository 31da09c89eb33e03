#include "comm/turn.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace tutti::comm {
namespace {

TEST(Turn, ServesNumbersInTheOrderTheyWereTaken) {
  Turn turn;
  EXPECT_TRUE(turn.is_idle());
  const auto first = turn.take();
  const auto second = turn.take();
  EXPECT_TRUE(turn.is_served(first));
  EXPECT_FALSE(turn.is_served(second));
  turn.pass();
  EXPECT_TRUE(turn.is_served(second));
  EXPECT_FALSE(turn.is_idle());
  turn.pass();
  EXPECT_TRUE(turn.is_idle());
}

TEST(Turn, HandsOverWhatTheOneBeforeLeftBehind) {
  Turn turn;
  int count = 0;  // of whoever has the turn
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < 500; ++call) {
        const auto number = turn.take();
        while (!turn.is_served(number)) std::this_thread::yield();
        ++count;
        turn.pass();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 1500);
}

}  // namespace
}  // namespace tutti::comm

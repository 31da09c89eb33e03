#include "os/event_loop.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "os/clock.h"

namespace tutti::os {
namespace {

Deadline soon(std::chrono::nanoseconds wait = std::chrono::seconds(30)) { return Deadline::after(now(), wait); }

TEST(EventLoop, CallsTimersInOrderAndNotTheCancelledOnes) {
  auto loop = *EventLoop::create();
  std::string calls;
  const Time start = now();
  const auto later = [&](int milliseconds) {
    return Time{start.ns + static_cast<std::uint64_t>(milliseconds) * 1'000'000};
  };
  loop->call_at(later(3), [&] { calls += 'c'; });
  loop->call_at(later(1), [&] { calls += 'a'; });
  auto cancelled = loop->call_at(later(2), [&] { calls += 'x'; });
  loop->call_at(later(1), [&] {
    calls += 'b';
    loop->cancel(cancelled);
  });
  EXPECT_TRUE(loop->run_until([&] { return calls.size() == 3; }, soon()));
  EXPECT_EQ(calls, "abc");
  EXPECT_GE(now(), later(3));
}

TEST(EventLoop, CallsNobodyWhoIsUnwatchedByAnotherInTheSameRound) {
  auto loop = *EventLoop::create();
  const FileDescriptor one(::eventfd(1, EFD_CLOEXEC)), two(::eventfd(1, EFD_CLOEXEC));
  EventLoop::Watch first, second;
  int calls = 0;
  const auto call = [&] {
    ++calls;
    loop->unwatch(first);
    loop->unwatch(second);
  };
  first = *loop->watch(one.get(), kReadable, call);
  second = *loop->watch(two.get(), kReadable, call);
  EXPECT_FALSE(loop->run_until([] { return false; }, soon(std::chrono::milliseconds(5))));
  EXPECT_EQ(calls, 1);
}

TEST(EventLoop, TakesFunctionsOfOtherThreadsInTheirOrder) {
  auto loop = *EventLoop::create();
  constexpr int kCount = 1000;
  std::vector<int> calls;
  std::thread other([&] {
    for (int index = 0; index < kCount; ++index) loop->post([&calls, index] { calls.push_back(index); });
  });
  EXPECT_TRUE(loop->run_until([&] { return calls.size() == kCount; }, soon()));
  other.join();
  EXPECT_TRUE(std::is_sorted(calls.begin(), calls.end()));
}

TEST(EventLoop, KnowsWhoseThreadItIs) {
  auto loop = *EventLoop::create();
  bool is_inside = false, is_outside = true;
  loop->call_later([&] {
    is_inside = loop->is_in_loop();
    std::thread([&] { is_outside = loop->is_in_loop(); }).join();
  });
  EXPECT_TRUE(loop->run_until([&] { return is_inside; }, soon()));
  EXPECT_FALSE(is_outside);
}

}  // namespace
}  // namespace tutti::os

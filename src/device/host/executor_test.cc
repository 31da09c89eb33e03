#include "device/host/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "device/host/devices.h"
#include "device/host/stream.h"
#include "os/clock.h"

namespace tutti::device {
namespace {

using namespace std::chrono_literals;
using Streams = std::vector<std::shared_ptr<HostStream>>;

Deadline soon() { return Deadline::after(os::now(), 20s); }

std::shared_ptr<HostStream> new_stream() { return std::make_shared<HostStream>(0, HostStream::Kind::blocking, 0); }

void add(const Streams& streams, std::function<void()> function) {
  Executor::of_process().submit(std::make_shared<FunctionTask>(std::move(function)), streams);
}

// Waits until it is let go.
struct Gate final : Task {
  bool progress() override { return is_open.load(); }
  std::atomic<bool> is_open = false;
};

TEST(Executor, TasksOfAStreamRunInOrder) {
  const auto stream = new_stream();
  std::vector<int> seen;
  for (int i = 0; i < 1000; ++i) add({stream}, [&seen, i] { seen.push_back(i); });
  ASSERT_TRUE(stream->synchronize(soon()));
  ASSERT_EQ(seen.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

TEST(Executor, ATaskThatIsNotDoneHoldsBackOnlyItsOwnStream) {
  const auto one = new_stream();
  const auto other = new_stream();
  const auto gate = std::make_shared<Gate>();
  std::atomic<bool> has_run = false;
  Executor::of_process().submit(gate, Streams{one});
  add({one}, [&] { has_run = true; });
  add({other}, [] {});
  ASSERT_TRUE(other->synchronize(soon()));
  EXPECT_FALSE(has_run);
  EXPECT_FALSE(one->is_idle());
  EXPECT_FALSE(one->synchronize(Deadline::after(os::now(), 5ms)));
  gate->is_open = true;
  ASSERT_TRUE(one->synchronize(soon()));
  EXPECT_TRUE(has_run);
}

TEST(Executor, ATaskOfSeveralStreamsWaitsForAllAndHoldsAllBack) {
  const Streams streams = {new_stream(), new_stream(), new_stream()};
  const auto gate = std::make_shared<Gate>();
  std::vector<int> seen;
  Executor::of_process().submit(gate, Streams{streams[1]});
  add(streams, [&] { seen.push_back(0); });
  add({streams[2]}, [&] { seen.push_back(1); });
  EXPECT_FALSE(streams[2]->synchronize(Deadline::after(os::now(), 5ms)));
  EXPECT_TRUE(seen.empty());
  gate->is_open = true;
  for (const auto& stream : streams) ASSERT_TRUE(stream->synchronize(soon()));
  EXPECT_EQ(seen, (std::vector<int>{0, 1}));
}

TEST(Executor, WhatNobodyWaitsForRunsAsWell) {
  const auto stream = new_stream();
  const auto gate = std::make_shared<Gate>();
  std::atomic<bool> has_run = false;
  Executor::of_process().submit(gate, Streams{stream});
  add({stream}, [&] { has_run = true; });
  gate->is_open = true;
  for (const Deadline deadline = soon(); !has_run && !deadline.has_passed(os::now());) std::this_thread::yield();
  EXPECT_TRUE(has_run);
}

TEST(Executor, ManyThreadsUseManyStreams) {
  Streams streams;
  for (int i = 0; i < 8; ++i) streams.push_back(new_stream());
  std::vector<std::uint64_t> sums(streams.size());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < 2000; ++i) {
        const std::size_t at = i % streams.size();
        add({streams[at]}, [&sums, at] { ++sums[at]; });
        if (i % 97 == 0) {
          EXPECT_TRUE(streams[at]->synchronize(soon()));
        }
      }
    });
  for (auto& thread : threads) thread.join();
  for (const auto& stream : streams) ASSERT_TRUE(stream->synchronize(soon()));
  for (const std::uint64_t sum : sums) EXPECT_EQ(sum, 1000u);
}

// Draws a number when it gets its place, and shows it when it runs.
struct Numbered final : Task {
  Numbered(std::atomic<int>& next_number, std::vector<int>& shown) : next(next_number), seen(shown) {}
  void take_place() noexcept override { number = next++; }
  bool progress() override {
    seen.push_back(number);
    return true;
  }
  std::atomic<int>& next;
  std::vector<int>& seen;
  int number = -1;
};

TEST(Executor, AnotherOrderOfTasksIsThatOfTheirStream) {
  const auto stream = new_stream();
  std::atomic<int> next = 0;
  std::vector<int> seen;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) Executor::of_process().submit(std::make_shared<Numbered>(next, seen), stream);
    });
  for (auto& thread : threads) thread.join();
  ASSERT_TRUE(stream->synchronize(soon()));
  ASSERT_EQ(seen.size(), 4000u);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], static_cast<int>(i));
}

TEST(Executor, OneThatWaitsForALaterOneOfTheSameGoEndsInIt) {
  const Streams streams = {new_stream(), new_stream()};
  const auto gate = std::make_shared<Gate>();
  const auto opener = std::make_shared<FunctionTask>([&] { gate->is_open = true; });
  Executor::of_process().place(gate, streams[0]);
  Executor::of_process().place(opener, streams[1]);
  EXPECT_FALSE(gate->is_open);
  std::vector<Task*> placed = {gate.get(), opener.get()};
  Executor::of_process().begin_all(placed);
  EXPECT_TRUE(streams[0]->is_idle());
  EXPECT_TRUE(streams[1]->is_idle());
}

TEST(Devices, TheDefaultStreamWaitsForBlockingStreamsAndTheyForIt) {
  Devices& devices = Devices::of_process();
  const auto blocking = devices.create_stream(0, HostStream::Kind::blocking, 0);
  const auto free = devices.create_stream(0, HostStream::Kind::non_blocking, 0);
  const auto elsewhere = devices.create_stream(1, HostStream::Kind::blocking, 0);
  const auto gate = std::make_shared<Gate>();
  std::vector<int> seen;
  Executor::of_process().submit(gate, devices.order_of(devices.find_stream(blocking)));
  add(devices.order_of(devices.find_stream(nullptr)), [&] { seen.push_back(1); });
  add(devices.order_of(devices.find_stream(blocking)), [&] { seen.push_back(2); });
  add(devices.order_of(devices.find_stream(free)), [] {});
  add(devices.order_of(devices.find_stream(elsewhere)), [] {});
  EXPECT_TRUE(devices.find_stream(free)->synchronize(soon()));
  EXPECT_TRUE(devices.find_stream(elsewhere)->synchronize(soon()));
  EXPECT_TRUE(seen.empty());
  gate->is_open = true;
  EXPECT_TRUE(devices.find_stream(blocking)->synchronize(soon()));
  EXPECT_EQ(seen, (std::vector<int>{1, 2}));
  for (const auto handle : {blocking, free, elsewhere}) EXPECT_TRUE(devices.destroy_stream(handle));
  EXPECT_FALSE(devices.destroy_stream(blocking));
  EXPECT_EQ(devices.find_stream(blocking), nullptr);
}

TEST(Devices, EveryThreadHasItsOwnDevice) {
  Devices& devices = Devices::of_process();
  ASSERT_TRUE(devices.set_current(3));
  std::thread([&] { EXPECT_EQ(devices.current(), 0); }).join();
  EXPECT_EQ(devices.current(), 3);
  EXPECT_EQ(devices.find_stream(nullptr)->device(), 3);
  EXPECT_EQ(devices.set_current(-1).code(), Code::invalid_argument);
  EXPECT_EQ(devices.set_current(devices.count()).code(), Code::invalid_argument);
  ASSERT_TRUE(devices.set_current(0));
}

}  // namespace
}  // namespace tutti::device

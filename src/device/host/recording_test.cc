#include "device/host/recording.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "device/host/event.h"
#include "device/host/executor.h"
#include "device/host/stream.h"
#include "os/clock.h"

namespace tutti::device {
namespace {

using namespace std::chrono_literals;
using Streams = std::vector<std::shared_ptr<HostStream>>;

Deadline soon() { return Deadline::after(os::now(), 20s); }

std::shared_ptr<HostStream> new_stream() { return std::make_shared<HostStream>(0, HostStream::Kind::non_blocking, 0); }

Recording::Maker counting(std::atomic<int>& count) {
  return [&count] { return std::make_shared<FunctionTask>([&count] { ++count; }); };
}

TEST(HostStream, KeepsTheFirstFailureUntilItIsTaken) {
  HostStream stream(0, HostStream::Kind::blocking, 0);
  EXPECT_TRUE(stream.take_failure());
  stream.fail(Status());
  EXPECT_TRUE(stream.take_failure());
  stream.fail(Status(Code::peer_lost, "first"));
  stream.fail(Status(Code::aborted, "second"));
  EXPECT_EQ(stream.take_failure().text(), "first");
  EXPECT_TRUE(stream.take_failure());
}

TEST(Recording, IsThereFromTheBeginningOfACaptureToItsEnd) {
  const auto stream = new_stream();
  EXPECT_EQ(stream->recording(), nullptr);
  const auto capture = Capture::begin(stream, Capture::Mode::global);
  ASSERT_NE(stream->recording(), nullptr);
  EXPECT_EQ(&stream->recording()->capture(), capture.get());
  CapturedWork work;
  EXPECT_EQ(capture->end(work), Capture::Outcome::complete);
  EXPECT_EQ(stream->recording(), nullptr);
  EXPECT_EQ(work.task_count(), 0u);
}

TEST(Recording, EveryRunHasFreshTasks) {
  const auto stream = new_stream();
  const auto capture = Capture::begin(stream, Capture::Mode::global);
  std::atomic<int> made = 0;
  std::atomic<int> run = 0;
  stream->recording()->add([&] {
    ++made;
    return std::make_shared<FunctionTask>([&run] { ++run; });
  });
  CapturedWork work;
  ASSERT_EQ(capture->end(work), Capture::Outcome::complete);
  EXPECT_EQ(work.task_count(), 1u);
  EXPECT_EQ(made, 0);
  Replay replay(std::make_shared<const CapturedWork>(std::move(work)));
  for (int i = 1; i <= 10; ++i) {
    replay.launch(Streams{stream});
    ASSERT_TRUE(stream->synchronize(soon()));
    EXPECT_EQ(made, i);
    EXPECT_EQ(run, i);
  }
}

TEST(Recording, RunsOfOneReplayFollowEachOtherOnWhateverStream) {
  const Streams streams = {new_stream(), new_stream(), new_stream()};
  const auto capture = Capture::begin(streams[0], Capture::Mode::global);
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::atomic<int> runs = 0;
  streams[0]->recording()->add(
      [&] { return std::make_shared<FunctionTask>([&] { most = std::max(most.load(), ++inside); }); });
  streams[0]->recording()->add([&] {
    return std::make_shared<FunctionTask>([&] {
      --inside;
      ++runs;
    });
  });
  CapturedWork work;
  ASSERT_EQ(capture->end(work), Capture::Outcome::complete);
  Replay replay(std::make_shared<const CapturedWork>(std::move(work)));
  for (std::size_t i = 0; i < 60; ++i) replay.launch(Streams{streams[i % 3]});
  for (const auto& stream : streams) ASSERT_TRUE(stream->synchronize(soon()));
  EXPECT_EQ(runs, 60);
  EXPECT_EQ(most, 1);
}

TEST(Recording, WhatWasAddedAfterAnEventIsNotJoinedByWaitingForIt) {
  const auto first = new_stream();
  const auto second = new_stream();
  std::atomic<int> count = 0;
  const auto capture = Capture::begin(first, Capture::Mode::global);
  capture->wait(second, capture->mark(first->recording()));
  second->recording()->add(counting(count));
  const CapturePoint point = capture->mark(second->recording());
  second->recording()->add(counting(count));
  capture->wait(first, point);
  CapturedWork work;
  EXPECT_EQ(capture->end(work), Capture::Outcome::unjoined);
  EXPECT_EQ(second->recording(), nullptr);
}

TEST(Recording, JoiningReachesThroughOtherStreams) {
  const Streams streams = {new_stream(), new_stream(), new_stream()};
  std::atomic<int> count = 0;
  const auto capture = Capture::begin(streams[0], Capture::Mode::global);
  for (std::size_t i = 1; i < 3; ++i) {
    capture->wait(streams[i], capture->mark(streams[i - 1]->recording()));
    streams[i]->recording()->add(counting(count));
  }
  capture->wait(streams[0], capture->mark(streams[2]->recording()));
  CapturedWork work;
  ASSERT_EQ(capture->end(work), Capture::Outcome::complete);
  EXPECT_EQ(work.lane_count, 3u);
  Replay replay(std::make_shared<const CapturedWork>(std::move(work)));
  replay.launch(Streams{streams[0]});
  ASSERT_TRUE(streams[0]->synchronize(soon()));
  EXPECT_EQ(count, 2);
}

TEST(Recording, AnInvalidCaptureKeepsNothing) {
  const auto stream = new_stream();
  std::atomic<int> count = 0;
  const auto capture = Capture::begin(stream, Capture::Mode::relaxed);
  stream->recording()->add(counting(count));
  capture->invalidate();
  stream->recording()->add(counting(count));
  CapturedWork work;
  EXPECT_EQ(capture->end(work), Capture::Outcome::invalid);
  EXPECT_TRUE(work.steps.empty());
  EXPECT_EQ(stream->recording(), nullptr);
}

TEST(Recording, TakesWorkFromSeveralThreads) {
  const auto stream = new_stream();
  std::atomic<int> count = 0;
  const auto capture = Capture::begin(stream, Capture::Mode::relaxed);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int i = 0; i < 250; ++i) stream->recording()->add(counting(count));
    });
  for (auto& thread : threads) thread.join();
  CapturedWork work;
  ASSERT_EQ(capture->end(work), Capture::Outcome::complete);
  Replay replay(std::make_shared<const CapturedWork>(std::move(work)));
  replay.launch(Streams{stream});
  ASSERT_TRUE(stream->synchronize(soon()));
  EXPECT_EQ(count, 1000);
}

TEST(HostEvent, TheLastRecordCounts) {
  HostEvent event(0, HostEvent::Timing::on);
  EXPECT_EQ(event.state().mark, nullptr);
  const auto stream = new_stream();
  const auto first = event.begin_record(stream);
  const auto second = event.begin_record(stream);
  EXPECT_EQ(event.state().mark, second);
  EXPECT_EQ(event.state().stream, stream);
  const Time before = os::now();
  Executor::of_process().submit(std::make_shared<MarkTask>(first), Streams{stream});
  Executor::of_process().submit(std::make_shared<MarkTask>(second), Streams{stream});
  ASSERT_TRUE(stream->synchronize(soon()));
  EXPECT_TRUE(first->is_done());
  EXPECT_TRUE(second->is_done());
  EXPECT_GE(first->at, before);
  EXPECT_GE(second->at, first->at);
}

}  // namespace
}  // namespace tutti::device

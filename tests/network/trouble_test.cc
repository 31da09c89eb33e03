// Ranks on several hosts that do not come, call something else, come late, leave or give up: nobody waits longer than
// it was told to, and everybody learns who is to blame.
#include <gtest/gtest.h>

#include <thread>

#include "tests/network/job.h"

namespace tutti::network {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Trouble : public OnHosts {};

TEST_F(Trouble, ARankThatNeverComesIsNamedOnEveryOther) {
  const Lab lab = create({.host_count = 3});
  Job job(lab, {0, 1, 2, 1}, {}, [](Rank rank, const Letter& letter) -> std::string {
    // Ranks 2 and 4 of 6 never start.
    const Rank own = rank == 2 ? 5 : rank;
    const Time begin = os::now();
    const auto communicator = Job::meet(own, 6, letter, {.times = {.start = seconds(3)}});
    if (os::now().ns - begin.ns > 8'000'000'000) return "it took too long";
    return communicator ? "started" : spoken(communicator.status());
  });
  for (const std::string& text : job.finish()) {
    expect_in(text, {"timed out: starting rank ", "waiting for 2 of 6 ranks: 2, 4; start them or raise"});
  }
  expect_in(job.log(0), {"tutti: waiting for 2 of 6 ranks: 2, 4"});
}

TEST_F(Trouble, ALateRankIsWaitedForAndAnnounced) {
  const Lab lab = create();
  Job job(lab, {0, 1}, {}, [](Rank rank, const Letter& letter) -> std::string {
    if (rank == 1) ::usleep(2'500'000);  // its being late is what the test is about
    auto communicator = Job::meet(rank, 2, letter, {});
    if (!communicator) return spoken(communicator.status());
    return communicator->barrier() ? "" : "no barrier";
  });
  job.expect_success();
  expect_in(job.log(0), {"waiting for 1 of 2 ranks: 1"});
}

// Its kernel still answers, although nobody reads for longer than a silence may last.
TEST_F(Trouble, ALateRankKeepsItsConnections) {
  const Lab lab = create();
  Job job(lab, {0, 1},
          [](Communicator& communicator) -> std::string {
            if (const Status status = communicator.barrier(); !status) return spoken(status);
            if (communicator.rank() == 1) ::usleep(4'000'000);  // its being late is what the test is about
            std::vector<float> data(8 << 20, communicator.rank() == 0 ? 7.0f : 0.0f);
            const Status status = communicator.broadcast(std::span<float>(data), 0);
            if (!status) return spoken(status);
            return data == std::vector<float>(8 << 20, 7) ? "" : "other data";
          },
          {.environment = {{"TUTTI_SILENCE", "1"}}});
  job.expect_success();
  EXPECT_EQ(job.logs(), "");
}

// What lies in the buffers of the kernel is still on its way when the call of the sender has ended.
TEST_F(Trouble, WhatARankSentBeforeItLeftArrives) {
  const Lab lab = create({.rails = {{.bits_per_second = 100'000'000}}});
  for (const Rank root : {0, 1}) {
    Job job(lab, {0, 1}, [&](Communicator& communicator) -> std::string {
      std::vector<float> data(1 << 20, communicator.rank() == root ? 7.0f : 0.0f);
      const Status status = communicator.broadcast(std::span<float>(data), root);
      if (!status) return spoken(status);
      return data == std::vector<float>(1 << 20, 7) ? "" : "other data";
    });
    job.expect_success();
  }
}

TEST_F(Trouble, MismatchedCallsAreNamedOnEveryRank) {
  for (const Rank odd : {0, 2, 3}) {
    for (const std::size_t count : {1, 100'000}) {
      const Lab lab = create();
      Job job(lab, {0, 0, 1, 1}, [&](Communicator& communicator) -> std::string {
        if (const Status first = communicator.barrier(); !first) return spoken(first);
        std::vector<float> data(count + 1);
        const bool is_odd = communicator.rank() == odd;
        Status status = communicator.all_reduce(std::span(data).first(is_odd ? count + 1 : count));
        // Whoever waits for nobody in its call learns it in the next one that does.
        for (int i = 0; i < 2 && status; ++i) status = communicator.barrier();
        return spoken(status);
      });
      const auto texts = job.finish();
      for (const std::string& text : texts) {
        expect_in(text, {"invalid usage: call 2 is not the same everywhere",
                         fmt::format("rank {} (pid {}", odd, job.pid(odd)), fmt::format("{}", count + 1)});
      }
    }
  }
}

TEST_F(Trouble, ARankThatDoesNotMakeTheCallIsNamedWithItsLastOne) {
  const Lab lab = create();
  const Board board;
  Job job(lab, {0, 1, 1},
          [&](Communicator& communicator) -> std::string {
            std::int32_t data[5] = {};
            if (const Status first = communicator.all_reduce(std::span<std::int32_t>(data)); !first)
              return spoken(first);
            if (communicator.rank() == 1) {
              if (!Board::wait_for(board.released(), 2)) return "never released";
              return spoken(communicator.barrier());
            }
            const Status status = communicator.broadcast(std::span<std::int32_t>(data), 1);
            ++board.released();
            return spoken(status);
          },
          {.times = {.call = milliseconds(1500)}});
  for (const std::string& text : job.finish()) {
    expect_in(text, {"timed out: broadcast of 5 int32, root 1 (call 2)", "waited 1.5",
                     fmt::format("rank 1 (pid {} on host1)", job.pid(1)),
                     "has not made this call; its last was call 1, all_reduce of 5 int32, sum"});
  }
}

TEST_F(Trouble, ARankThatHasLeftIsNamed) {
  const Lab lab = create();
  const Board board;
  Job job(lab, {0, 1}, {}, [&](Rank rank, const Letter& letter) -> std::string {
    auto communicator = Job::meet(rank, 2, letter);
    if (!communicator) return spoken(communicator.status());
    if (const Status first = communicator->barrier(); !first) return spoken(first);
    if (rank == 1) {
      communicator = Status(Code::aborted, "destroyed");
      return Board::wait_for(board.released(), 1) ? "" : "never released";
    }
    const Status status = communicator->barrier();
    ++board.released();
    return spoken(status);
  });
  const auto texts = job.finish();
  expect_in(texts[0], {"peer lost: barrier (call 2)", fmt::format("rank 1 (pid {} on host1), which has ", job.pid(1))});
  EXPECT_EQ(texts[1], "");
}

// The first call between two hosts makes the connection, which a stopped process does not answer.
TEST_F(Trouble, AbortEndsACallThatStillConnects) {
  const Lab lab = create();
  const Board board;
  Job job(lab, {0, 1}, [&](Communicator& communicator) -> std::string {
    ++board.started();
    if (communicator.rank() == 1) return Board::wait_for(board.released(), 1) ? "" : "never released";
    std::thread aborting([&] {
      Board::wait_for(board.released(), 1);
      communicator.abort({Code::aborted, "enough"});
    });
    // Rank 1 is stopped from here on.
    Board::wait_for(board.started(), 3);
    const Time begin = os::now();
    const std::string text = spoken(communicator.barrier());
    aborting.join();
    if (os::now().ns - begin.ns > 5'000'000'000) return "it took too long";
    return text;
  });
  ASSERT_TRUE(Board::wait_for(board.started(), 2));
  job.crew().send(1, SIGSTOP);
  ++board.started();
  ::usleep(500'000);  // so that rank 0 waits
  ++board.released();
  ASSERT_TRUE(lab::has_ended(job.pid(0), seconds(20)));
  job.crew().send(1, SIGCONT);
  const auto texts = job.finish();
  EXPECT_EQ(texts[0], "aborted: enough");
}

TEST_F(Trouble, AbortFromAnotherThreadEndsCallsThatWaitOnOtherHosts) {
  const Lab lab = create({.host_count = 3});
  const Board board;
  Job job(lab, {0, 1, 1, 2}, [&](Communicator& communicator) -> std::string {
    if (const Status first = communicator.barrier(); !first) return spoken(first);
    std::thread aborting;
    if (communicator.rank() == 3) {
      aborting = std::thread([&] {
        Board::wait_for(board.started(), 3);
        ::usleep(100'000);  // so that most are asleep
        communicator.abort({Code::aborted, "the loss is not a number"});
      });
      aborting.join();
      return spoken(communicator.barrier());
    }
    ++board.started();
    std::vector<float> data(1000);
    const Time begin = os::now();
    const Status status = communicator.all_reduce(std::span<float>(data));
    if (os::now().ns - begin.ns > 5'000'000'000) return "it took too long";
    return spoken(status);
  });
  for (const std::string& text : job.finish()) EXPECT_EQ(text, "aborted: the loss is not a number") << job.logs();
}

}  // namespace
}  // namespace tutti::network

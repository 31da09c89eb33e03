// Flight recorders of processes that run, are stopped, hang or are killed, as `tutti inspect` and `tutti diagnose` read
// them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "bootstrap/store/place_for_test.h"
#include "comm/watch/json.h"
#include "comm/watch/reader.h"
#include "os/process.h"
#include "tests/process/board.h"
#include "tests/process/crew.h"
#include "tests/process/meeting.h"
#include "tests/tools/answer.h"

namespace tutti::conformance {
namespace {

using bootstrap::TemporaryDirectory;
using comm::watch::CallState;
using comm::watch::Recording;

void expect_in(const std::string& text, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
}

// Looks until something is so; false when it takes longer than any test may.
template <class Condition>
bool comes_true(Condition condition) {
  const Deadline deadline = Deadline::after(os::now(), std::chrono::seconds(30));
  while (!deadline.has_passed(os::now())) {
    if (condition()) return true;
    ::usleep(500);
  }
  return false;
}

// Two ranks that have made a barrier; then rank 0 makes another, and rank 1 does not until it is released.
class HalfABarrier {
 public:
  explicit HalfABarrier(const std::string& dumps = "")
      : crew_(2, [this, dumps](int rank) -> std::string {
          if (!dumps.empty()) ::setenv("TUTTI_DUMP_DIR", dumps.c_str(), 1);
          auto communicator = meet(rank, 2, directory_ / "store");
          if (!communicator) return spoken(communicator.status());
          if (const Status first = communicator->barrier(); !first) return spoken(first);
          ++board_.started();
          if (rank == 1 && !Board::wait_for(board_.released(), 1)) return "never released";
          return spoken(communicator->barrier());
        }) {}

  bool begins() {
    return Board::wait_for(board_.started(), 2) && comes_true([&] {
             const auto recordings = comm::watch::read_process(crew_.pid(0));
             return recordings && !recordings->empty() && !recordings->front().calls.empty() &&
                    recordings->front().calls.back().waits_for == 1;
           });
  }
  Crew& crew() { return crew_; }
  void release() { ++board_.released(); }

 private:
  TemporaryDirectory directory_;
  Board board_;
  Crew crew_;
};

TEST(Recorder, OfARunningProcessIsReadWithoutItsHelp) {
  HalfABarrier job;
  ASSERT_TRUE(job.begins());
  const auto waiting = comm::watch::read_process(job.crew().pid(0));
  ASSERT_TRUE(waiting) << waiting.status().text();
  ASSERT_EQ(waiting->size(), 1u);
  const Recording& recording = waiting->front();
  EXPECT_EQ(recording.rank, 0);
  EXPECT_EQ(recording.size, 2);
  EXPECT_EQ(recording.pid, job.crew().pid(0));
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_EQ(recording.calls[0].text(), "barrier");
  EXPECT_EQ(recording.calls[0].number, 1u);
  EXPECT_EQ(recording.calls[0].state, CallState::done);
  EXPECT_EQ(recording.calls[1].number, 2u);
  EXPECT_EQ(recording.calls[1].state, CallState::running);
  EXPECT_EQ(recording.members.at(1).pid, job.crew().pid(1));
  const auto late = comm::watch::read_process(job.crew().pid(1));
  ASSERT_TRUE(late) << late.status().text();
  ASSERT_EQ(late->front().calls.size(), 1u);
  EXPECT_EQ(late->front().communicator, recording.communicator);
  job.release();
  for (const std::string& text : job.crew().finish()) EXPECT_EQ(text, "ok: ok");
}

TEST(Inspect, ShowsAStoppedProcessAndLeavesItStopped) {
  HalfABarrier job;
  ASSERT_TRUE(job.begins());
  const pid_t pid = job.crew().pid(0);
  job.crew().send(0, SIGSTOP);
  ASSERT_TRUE(comes_true([&] { return os::state_of(pid) == os::ProcessState::stopped; }));
  const Answer answer = tutti(fmt::format("inspect {} --stack", pid));
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  expect_in(answer.text, {fmt::format("process {}: ", pid), "(stopped", "rank 0 of 2, alive", "running  barrier",
                          fmt::format("waits for rank 1 (pid {}", job.crew().pid(1))});
  EXPECT_TRUE(contains(answer.text, "#0 ") || contains(answer.text, "no stack: ")) << answer.text;
  EXPECT_TRUE(comes_true([&] { return os::state_of(pid) == os::ProcessState::stopped; }));
  job.crew().send(0, SIGCONT);
  job.release();
  for (const std::string& text : job.crew().finish()) EXPECT_EQ(text, "ok: ok");
}

TEST(Inspect, ShowsAllRanksOfThisMachineAndLetsThemGoOn) {
  HalfABarrier job;
  ASSERT_TRUE(job.begins());
  const Answer answer = tutti(fmt::format("inspect {} --all --stack --calls 1", job.crew().pid(1)));
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  expect_in(answer.text,
            {"rank 0 of 2, alive", "rank 1 of 2, alive", "       1 done     barrier", "       2 running  barrier"});
  job.release();
  for (const std::string& text : job.crew().finish()) EXPECT_EQ(text, "ok: ok");
}

TEST(Inspect, SaysWhyThereIsNothingToShow) {
  Crew stranger(1, [](int) -> std::string {
    ::pause();
    return {};
  });
  expect_error(1, fmt::format("inspect {}", stranger.pid(0)), "has no flight recorder: it does not use Tutti");
  stranger.send(0, SIGKILL);
  ASSERT_TRUE(comes_true([&] { return os::state_of(stranger.pid(0)) == os::ProcessState::zombie; }));
  expect_error(1, fmt::format("inspect {}", stranger.pid(0)), "has ended and left nothing to look at");
  stranger.finish();
  expect_error(1, fmt::format("inspect {}", stranger.pid(0)), "there is no process");
  expect_usage_error("inspect", "PID is required");
  expect_usage_error("inspect me", "me");
}

TEST(Diagnose, TellsFromALiveJobWhoIsLate) {
  const TemporaryDirectory directory;
  HalfABarrier job;
  ASSERT_TRUE(job.begins());
  const std::string file = directory / "job.json";
  // A wait counts as one when it has lasted for a second.
  ASSERT_TRUE(comes_true([&] {
    const auto recordings = comm::watch::read_process(job.crew().pid(0));
    return recordings && recordings->front().taken_s - recordings->front().calls.back().started_s > 1.1;
  }));
  shell(fmt::format("{} inspect {} --all --json > {}", TUTTI_COMMAND, job.crew().pid(0), file));
  const Answer answer = tutti("diagnose " + file);
  EXPECT_EQ(answer.exit_code, 1) << answer.text;
  expect_in(answer.text, {"2 of 2 ranks recorded", fmt::format("behind: rank 1 (pid {} on ", job.crew().pid(1)),
                          "is behind by 1 call: its last was call 1, barrier, while rank 0"});
  job.release();
  for (const std::string& text : job.crew().finish()) EXPECT_EQ(text, "ok: ok");
}

TEST(Diagnose, NamesARankThatWasKilled) {
  const TemporaryDirectory dumps;
  HalfABarrier job(dumps / ".");
  ASSERT_TRUE(job.begins());
  job.crew().send(1, SIGKILL);
  expect_in(job.crew().finish()[0], {"has died"});
  const Answer answer = tutti("diagnose " + (dumps / "."));
  EXPECT_EQ(answer.exit_code, 1) << answer.text;
  expect_in(answer.text, {"1 of 2 ranks recorded, missing 1",
                          fmt::format("died: rank 1 (pid {} on ", job.crew().pid(1)), "has died; rank 0"});
}

// Each rank makes its own calls after a first one that all make, with dumps.
std::vector<std::string> run_with_dumps(const TemporaryDirectory& dumps, int size,
                                        const std::function<Status(Communicator&)>& work, Times times = {}) {
  const TemporaryDirectory directory;
  Crew crew(size, [&](int rank) -> std::string {
    ::setenv("TUTTI_DUMP_DIR", (dumps / ".").c_str(), 1);
    auto communicator = meet(rank, size, directory / "store", times);
    if (!communicator) return spoken(communicator.status());
    if (const Status first = communicator->barrier(); !first) return spoken(first);
    return spoken(work(*communicator));
  });
  return crew.finish();
}

TEST(Diagnose, NamesARankThatMakesAnotherCall) {
  const TemporaryDirectory dumps;
  run_with_dumps(dumps, 3, [](Communicator& communicator) {
    std::int32_t data[6] = {};
    const std::size_t count = communicator.rank() == 1 ? 5 : 6;
    return communicator.all_reduce(std::span<std::int32_t>(data, count));
  });
  const Answer answer = tutti("diagnose " + (dumps / "."));
  EXPECT_EQ(answer.exit_code, 1) << answer.text;
  expect_in(answer.text,
            {"3 of 3 ranks recorded", "mismatch: call 2 is not the same everywhere: rank ",
             "calls all_reduce of 6 int32, sum", "calls all_reduce of 5 int32, sum", "(count 6 against 5)"});
  const Answer json = tutti("diagnose --json " + (dumps / "."));
  expect_in(json.text, {"\"trouble\": \"mismatch\"", "\"call\": 2", "\"ranks\": [\n    1\n   ]"});
}

TEST(Diagnose, NamesARankThatMadeAnotherCallAndLeft) {
  const TemporaryDirectory dumps;
  run_with_dumps(dumps, 2, [](Communicator& communicator) {
    std::int32_t data[5] = {};
    if (communicator.rank() == 1) return communicator.broadcast(std::span<std::int32_t>(data), 1);
    return communicator.barrier();
  });
  const Answer answer = tutti("diagnose " + (dumps / "."));
  EXPECT_EQ(answer.exit_code, 1) << answer.text;
  expect_in(answer.text, {"mismatch: call 2 is not the same everywhere: rank ", "calls barrier",
                          "calls broadcast of 5 int32, root 1"});
}

TEST(Diagnose, NamesALateRankAfterTheTimeout) {
  const TemporaryDirectory dumps;
  const Board board;
  run_with_dumps(dumps, 2,
                 [&](Communicator& communicator) {
                   if (communicator.rank() == 1) {
                     Board::wait_for(board.released(), 1);
                     return communicator.barrier();
                   }
                   const Status status = communicator.barrier();
                   ++board.released();
                   return status;
                 },
                 {.call = std::chrono::milliseconds(200)});
  const Answer answer = tutti("diagnose " + (dumps / "."));
  EXPECT_EQ(answer.exit_code, 1) << answer.text;
  expect_in(answer.text, {"2 of 2 ranks recorded", "behind: rank 1 ", "its last was call 1, barrier"});
}

TEST(Diagnose, FindsNothingWhereNothingFailed) {
  const TemporaryDirectory dumps;
  for (const auto& text : run_with_dumps(dumps, 2, [](Communicator& communicator) { return communicator.barrier(); })) {
    EXPECT_EQ(text, "ok: ok");
  }
  EXPECT_TRUE(dumps.is_empty()) << "a clean end leaves no recording";
  expect_usage_error("diagnose " + (dumps / "."), "has no recordings (tutti-*.json); set TUTTI_DUMP_DIR");
}

TEST(Diagnose, NamesFilesThatItCannotRead) {
  const TemporaryDirectory dumps;
  expect_usage_error("diagnose " + (dumps / "nothing.json"), "nothing.json': No such file or directory");
  std::ofstream(dumps / "tutti-1.json") << "{\"format\": \"tutti-recording\", \"ver";
  expect_usage_error("diagnose " + (dumps / "."), "tutti-1.json: the text is no JSON; it may have been cut off");
  comm::watch::Recording recording{.communicator = 5, .rank = 0, .size = 1, .pid = 7, .host = "node"};
  std::ofstream(dumps / "tutti-2.json") << comm::watch::json_of(recording);
  const Answer answer = tutti("diagnose " + (dumps / "."));
  EXPECT_EQ(answer.exit_code, 2) << "with a file that cannot be read nobody can say that all is well";
  expect_in(answer.text, {"tutti-1.json: the text is no JSON", "1 of 1 ranks recorded\n  nothing wrong was found"});
  EXPECT_EQ(tutti("diagnose " + (dumps / "tutti-2.json")).exit_code, 0);
}

TEST(DumpSignal, WritesTheLastCallsOfAProcessThatGoesOn) {
  const TemporaryDirectory directory;
  const TemporaryDirectory dumps;
  const Board board;
  Crew crew(1, [&](int) -> std::string {
    ::setenv("TUTTI_DUMP_DIR", (dumps / ".").c_str(), 1);
    ::setenv("TUTTI_DUMP_SIGNAL", "USR2", 1);
    auto communicators = Communicator::create_local(1);
    if (!communicators) return spoken(communicators.status());
    const Status status = communicators->front().barrier();
    ++board.started();
    return Board::wait_for(board.released(), 1) ? spoken(status) : "never released";
  });
  ASSERT_TRUE(Board::wait_for(board.started(), 1));
  crew.send(0, SIGUSR2);
  EXPECT_TRUE(comes_true([&] {
    for (const auto& entry : std::filesystem::directory_iterator(dumps / ".")) {
      if (entry.path().extension() == ".json") return true;
    }
    return false;
  }));
  ++board.released();
  EXPECT_EQ(crew.finish()[0], "ok: ok");
  EXPECT_EQ(tutti("diagnose " + (dumps / ".")).exit_code, 0);
}

}  // namespace
}  // namespace tutti::conformance

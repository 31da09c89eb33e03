// How jobs of `tutti run` end on this machine: by a rank, by the user, by the clock, by mistakes, by whoever kills a
// part of it. Nothing may be left of any of them; RunHere looks.
#include <gtest/gtest.h>

#include <csignal>

#include "os/clock.h"
#include "tests/launch/run_here.h"

namespace tutti::programs {
namespace {

class RunEnd : public RunHere {
 protected:
  void expect_said(const std::string& output, const std::vector<std::string>& parts) const {
    for (const std::string& part : parts)
      EXPECT_NE(output.find(part), std::string::npos) << part << "\nin:\n" << output;
  }
  // With ranks that sleep, each with a child that has left its session.
  Result<lab::Process> start_sleepers(Words options, Words first_actions = {}) const {
    options.insert(options.begin(), {"-np", "3"});
    first_actions.insert(first_actions.end(), {noting_child(), noting_pid(), "sleep=1000"});
    auto job = start(options, first_actions);
    if (job && !(have_noted(folder(), "child", 3) && have_noted(folder(), "rank", 3))) {
      return Status(Code::timed_out, "the ranks did not start: " + job->output());
    }
    return job;
  }
};

TEST_F(RunEnd, TheFirstFailureDecidesTheExitCodeAndIsReported) {
  const Ending ending = run({"-np", "4", "--grace", "1"}, {noting_pid(), "err@2=30", "exit@2=3", "sleep=1000"});
  EXPECT_EQ(ending.exit_code, 3);
  expect_said(ending.output, {"rank 2 on", "was the first to fail: exit code 3", "    line 10 of rank 2\n",
                              "    line 29 of rank 2\n", "ended because of it: ranks 0, 1 and 3"});
  EXPECT_EQ(ending.output.find("    line 9 of rank 2\n"), std::string::npos) << "only the last 20 lines are repeated";
}

TEST_F(RunEnd, ASignalIsNamedAndAddsToTheExitCode) {
  const std::string words = shell_text(run_words({"-np", "2", "--grace", "1"}, {"kill@1=11", "sleep=1000"}));
  const Ending ending = run_program({"sh", "-c", "ulimit -c 0; exec " + words});
  EXPECT_EQ(ending.exit_code, 128 + SIGSEGV);
  expect_said(ending.output, {"rank 1 on", "was the first to fail: killed by signal 11 (Segmentation fault)"});
  EXPECT_EQ(ending.output.find("core dumped"), std::string::npos) << ending.output;
}

TEST_F(RunEnd, RanksThatDoNotListenAreKilledAfterTheGrace) {
  const Time begin = os::now();
  const Ending ending =
      run({"-np", "2", "--grace", "0.5"},
          {"deaf@0", noting_child(), noting_pid(), "await@1=" + folder().file("rank.0"), "exit@1=9", "sleep=1000"});
  EXPECT_EQ(ending.exit_code, 9);
  expect_said(ending.output, {"rank 1 on", "exit code 9"});
  EXPECT_GE(os::now().ns - begin.ns, 500'000'000U) << "rank 0 had no grace";
}

TEST_F(RunEnd, ChildrenOfRanksEndWithAJobThatGoesWell) {
  EXPECT_EQ(run({"-np", "3"}, {noting_child(), "out=1"}).exit_code, 0);
  EXPECT_TRUE(is_all_gone(lab::kGrace)) << described(left());
}

TEST_F(RunEnd, CtrlCEndsItPolitely) {
  auto job = start_sleepers({});
  ASSERT_TRUE(job) << job.status().text();
  ::kill(job->pid(), SIGINT);
  EXPECT_EQ(job->wait(lab::kLimit), 128 + SIGINT) << job->output();
  expect_said(job->output(), {"Ctrl-C: ranks 0-2 have 5.0 s to end", "ended by Ctrl-C"});
}

TEST_F(RunEnd, CtrlCTwiceEndsItAtOnce) {
  auto job = start_sleepers({"--grace", "1000"}, {"deaf"});
  ASSERT_TRUE(job) << job.status().text();
  ::kill(job->pid(), SIGINT);
  ASSERT_TRUE(comes_true([&] { return job->output().find("once more kills them") != std::string::npos; }))
      << job->output();
  EXPECT_FALSE(job->wait(lab::kLook)) << "they are deaf and have much time";
  ::kill(job->pid(), SIGINT);
  EXPECT_EQ(job->wait(lab::kGrace), 128 + SIGINT) << job->output();
}

TEST_F(RunEnd, SigtermEndsItToo) {
  auto job = start_sleepers({});
  ASSERT_TRUE(job) << job.status().text();
  ::kill(job->pid(), SIGTERM);
  EXPECT_EQ(job->wait(lab::kLimit), 128 + SIGTERM) << job->output();
}

TEST_F(RunEnd, TheTimeLimitEndsIt) {
  const Ending ending = run({"-np", "2", "--timeout", "1", "--grace", "1"}, {noting_child(), "sleep=1000"});
  EXPECT_EQ(ending.exit_code, 124) << ending.output;
  expect_said(ending.output, {"time limit of 1 s"});
}

TEST_F(RunEnd, NothingOutlivesALauncherThatIsKilled) {
  auto job = start_sleepers({"--grace", "1"});
  ASSERT_TRUE(job) << job.status().text();
  EXPECT_GE(left().size(), 9U) << "the launcher, an agent and its guard, three ranks and their children\n"
                               << described(left());
  ::kill(job->pid(), SIGKILL);
  EXPECT_EQ(job->wait(lab::kLimit), 128 + SIGKILL);
  EXPECT_TRUE(is_all_gone(lab::kGrace)) << described(left());
}

// The agent and the guard look after each other, whichever is killed; the launcher says so.
TEST_F(RunEnd, NothingOutlivesAnAgentOrAGuardThatIsKilled) {
  for (const std::size_t victim : {0U, 1U}) {
    auto job = start_sleepers({"--grace", "1"});
    ASSERT_TRUE(job) << job.status().text();
    const std::vector<pid_t> both = agents();
    ASSERT_EQ(both.size(), 2U) << described(left());
    ::kill(both[victim], SIGKILL);
    const auto code = job->wait(lab::kLimit);
    ASSERT_TRUE(code) << job->output();
    EXPECT_NE(*code, 0) << job->output();
    expect_said(job->output(), {"localhost"});
    EXPECT_TRUE(is_all_gone(lab::kGrace)) << described(left());
    for (int rank = 0; rank < 3; ++rank) {
      ::unlink(folder().file(fmt::format("rank.{}", rank)).c_str());
      ::unlink(folder().file(fmt::format("child.{}", rank)).c_str());
    }
  }
}

struct Mistake {
  const char* name;
  Words words;
  int exit_code;
  std::string said;  // somewhere in its only sentence
};
void PrintTo(const Mistake& mistake, std::ostream* stream) { *stream << mistake.name; }

class RunMistake : public RunHere, public testing::WithParamInterface<Mistake> {};

TEST_P(RunMistake, IsOneSentence) {
  Words words = {built("tutti"), "run"};
  words.insert(words.end(), GetParam().words.begin(), GetParam().words.end());
  const Ending ending = run_program(words);
  EXPECT_EQ(ending.exit_code, GetParam().exit_code) << ending.output;
  EXPECT_NE(ending.output.find(GetParam().said), std::string::npos) << ending.output;
  EXPECT_EQ(count_of(ending.output, "\n"), 1U) << ending.output;
}

INSTANTIATE_TEST_SUITE_P(
    Run, RunMistake,
    testing::Values(Mistake{"NoProgram", {"-np", "2"}, 2, "no program is given"},
                    Mistake{"TooFewSlots", {"-np", "3", "-H", "localhost:2", "true"}, 2, "3"},
                    Mistake{"TwoKindsOfHosts", {"-H", "localhost", "--hostfile", "x", "true"}, 2, "--hostfile"},
                    Mistake{"NoHostFile", {"--hostfile", "nowhere.txt", "true"}, 2, "nowhere.txt"},
                    Mistake{"TeeWithoutFiles", {"-np", "2", "--tee", "true"}, 2, "--output"},
                    Mistake{"TwoTags", {"-np", "2", "--tag-output", "--tag", "none", "true"}, 2, "--tag none"},
                    Mistake{"MostBelowLeast", {"--min-np", "4", "--max-np", "2", "true"}, 2, "--max-np 2"},
                    Mistake{"UnknownOption", {"--nonsense", "true"}, 2, "--nonsense"},
                    Mistake{"NoAllocation", {"-np", "2", "--launcher", "slurm", "true"}, 2, "salloc"}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

TEST_F(RunEnd, AProgramOrAFolderThatIsNotThereIsNamed) {
  const Ending program = run_program({built("tutti"), "run", "-np", "3", "./no_such_program"});
  EXPECT_EQ(program.exit_code, 127) << program.output;
  expect_said(program.output, {"no_such_program", "there is no such file"});
  const Ending where = run({"-np", "3", "--chdir", "/no/such/folder"}, {"out=1"});
  EXPECT_NE(where.exit_code, 0) << where.output;
  expect_said(where.output, {"/no/such/folder", "does not exist"});
  EXPECT_EQ(count_of(where.output, "line 0"), 0U) << where.output;
}

}  // namespace
}  // namespace tutti::programs

#include "tools/tutti/job_text.h"

#include <gtest/gtest.h>

#include <csignal>

#include "launch/control/fake_job_for_test.h"
#include "tools/tutti/signal_name.h"

namespace tutti::tool {
namespace {

using launch::RankState;
using launch::control::some_job;

constexpr Time kNow{1'000'000'000'000};

TEST(JobText, TellsAgesInTwoUnits) {
  EXPECT_EQ(age_text(0.9), "0s");
  EXPECT_EQ(age_text(59), "59s");
  EXPECT_EQ(age_text(185), "3m05s");
  EXPECT_EQ(age_text(7620), "2h07m");
  EXPECT_EQ(age_text(4 * 86'400 + 3 * 3600), "4d03h");
}

TEST(JobText, TellsHowARankEnded) {
  EXPECT_EQ(state_text({.state = RankState::running}), "running");
  EXPECT_EQ(state_text({.state = RankState::ended}), "done");
  EXPECT_EQ(state_text({.state = RankState::ended, .code = 3}), "exit 3");
  EXPECT_EQ(state_text({.state = RankState::ended, .signal = SIGKILL}), "SIGKILL");
  EXPECT_EQ(state_text({.state = RankState::lost}), "lost");
}

TEST(JobText, ListsJobsInColumns) {
  auto job = some_job();
  job.started = {kNow.ns - 185'000'000'000};
  auto other = some_job();
  other.name = "k3f9";
  other.ranks.pop_back();
  other.command = {"sleep", "9"};
  other.started = kNow;
  const auto lines = jobs_table(std::vector{job, other}, kNow);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "NAME    PID    AGE   RANKS  HOSTS      STATE    COMMAND");
  EXPECT_EQ(lines[1], "train  4711  3m05s  2 of 3  gpu1,gpu2  running  python3 train.py '--name=a b'");
  EXPECT_EQ(lines[2], "k3f9   4711     0s       2  gpu1       running  sleep 9");
}

TEST(JobText, ListsEveryRank) {
  const auto lines = ranks_table(std::vector{some_job()});
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "NAME   RANK  PID  HOST  STATE");
  EXPECT_EQ(lines[3], "train     2  102  gpu2  SIGKILL");
}

TEST(JobText, NamesFewHostsAndCountsMany) {
  launch::JobStatus job;
  EXPECT_EQ(hosts_text(job), "-");
  for (Rank rank = 0; rank < 8; ++rank) job.ranks.push_back({.rank = rank, .host = fmt::format("gpu{}", rank / 2)});
  EXPECT_EQ(hosts_text(job), "gpu0 and 3 more");
}

TEST(JobText, KeepsTheCommandsOfOthersFromTheTerminal) {
  auto job = some_job();
  job.command = {"\x1b]0;title\x07"};
  EXPECT_EQ(jobs_table(std::vector{job}, kNow)[1].find('\x1b'), std::string::npos);
}

TEST(SignalName, IsReadInTheFormsPeopleWrite) {
  for (const char* name : {"USR1", "usr1", "SIGUSR1", "10"}) EXPECT_EQ(signal_of(name), SIGUSR1) << name;
  for (const char* name : {"", "SIG", "0", "-9", "65", "USR3", "9x"}) EXPECT_FALSE(signal_of(name)) << name;
  EXPECT_EQ(signal_name(SIGKILL), "SIGKILL");
  EXPECT_EQ(signal_name(42), "signal 42");
}

}  // namespace
}  // namespace tutti::tool

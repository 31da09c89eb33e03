#include "launch/agent/guard.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "launch/agent/agent_process.h"
#include "launch/agent/agent_under_test.h"

namespace tutti::launch {
namespace {

constexpr std::chrono::seconds kSoon(10);  // two on a machine that is not busy

// A rank with a child, a grandchild in a session of its own, and an orphan in another.
constexpr const char* kFamily =
    "sleep 1000 & echo $!; setsid sleep 1001 & echo $!; (setsid sleep 1002 & echo $!); echo ready; sleep 1003";

class Family : public testing::Test {
 protected:
  void SetUp() override {
    agent.begin(kFamily);
    pids = agent.printed_pids();
    ASSERT_EQ(pids.size(), 4u);
    ASSERT_FALSE(are_gone({pids.back()}, std::chrono::seconds(0)));
    pids.push_back(agent.agent());
  }
  AgentUnderTest agent;
  std::vector<pid_t> pids;
};

TEST_F(Family, IsGoneWhenTheAgentIsKilled) {
  ASSERT_EQ(::kill(agent.agent(), SIGKILL), 0);
  EXPECT_TRUE(are_gone(pids, kSoon));
  EXPECT_TRUE(agent.wait_for_guard());
}

TEST_F(Family, IsGoneWhenTheGuardIsKilled) {
  ASSERT_EQ(::kill(agent.guard(), SIGKILL), 0);
  EXPECT_TRUE(are_gone(pids, kSoon));
}

TEST_F(Family, IsGoneWhenTheChannelIsClosed) {
  agent.close();
  EXPECT_TRUE(are_gone(pids, kSoon));
  EXPECT_TRUE(agent.wait_for_guard());
}

TEST_F(Family, IsGoneWhenTheGuardIsToldToEnd) {
  ASSERT_EQ(::kill(agent.guard(), SIGTERM), 0);
  EXPECT_TRUE(agent.wait_for<Gone>());
  EXPECT_TRUE(are_gone(pids, kSoon));
  EXPECT_TRUE(agent.wait_for_guard());
}

TEST(Silence, OfTheLauncherEndsEverything) {
  AgentUnderTest agent({.silence = std::chrono::seconds(3)});
  agent.begin(kFamily);
  const auto pids = agent.printed_pids();
  EXPECT_TRUE(agent.wait_for<Gone>());
  EXPECT_TRUE(are_gone(pids, kSoon));
  EXPECT_NE(agent.all<Note>().front().text.find("heard nothing"), std::string::npos);
}

TEST(Silence, IsNoneWhileAllIsHalted) {
  AgentUnderTest agent({.silence = std::chrono::seconds(1)});
  agent.send(Signal{.rank = kNoRank, .signal = SIGSTOP});
  EXPECT_TRUE(agent.wait_for<Beat>(3));
  EXPECT_TRUE(agent.all<Gone>().empty());
}

// A program for the tests below, which start it as ssh would: what the test framework prints first is skipped.
TEST(AgentProgram, DISABLED_RunsAsTheBranchOfAnother) {
  const char* const host = ::getenv("TUTTI_TEST_HOST");
  if (host == nullptr) GTEST_SKIP() << "only as a program";
  const Status status = run_agent({}, [&] { return take_standard_streams(static_cast<HostIndex>(::atoi(host))); });
  ::_exit(status ? 0 : 1);
}

Branch branch_of(HostIndex host) {
  std::array<char, 4096> path{};
  EXPECT_GT(::readlink("/proc/self/exe", path.data(), path.size() - 1), 0);
  return {.host = host,
          .name = "host" + std::to_string(host),
          .words = {"env", "TUTTI_TEST_HOST=" + std::to_string(host), path.data(), "--gtest_also_run_disabled_tests",
                    "--gtest_filter=AgentProgram.*"},
          .branches = {}};
}

TEST(BranchTree, CarriesMessagesBothWaysAndEndsWithItsRoot) {
  std::vector<pid_t> pids;
  {
    AgentUnderTest agent;
    Branch first = branch_of(1);
    first.branches = {branch_of(2)};
    agent.send(Grow{{first}});
    ASSERT_TRUE(agent.wait_for<Hello>(3));
    agent.send(Begin{shell_order("sleep 1000 & echo $!; echo ready; sleep 1001")}, 2);
    pids = agent.printed_pids();
    for (const Hello& hello : agent.all<Hello>()) pids.push_back(hello.pid);
    ASSERT_EQ(pids.size(), 5u);
    for (const Envelope& envelope : agent.heard) {
      if (std::holds_alternative<Output>(envelope.message)) EXPECT_EQ(envelope.host, 2u);
    }
  }
  EXPECT_TRUE(are_gone(pids, kSoon));
}

TEST(BranchTree, ALostBranchIsExplained) {
  AgentUnderTest agent;
  agent.send(
      Grow{{{.host = 1, .name = "gone", .words = {"sh", "-c", "echo no way there >&2; exit 255"}, .branches = {}},
            {.host = 2, .name = "missing", .words = {"no-such-ssh"}, .branches = {}}}});
  ASSERT_TRUE(agent.wait_for<Lost>(2));
  for (const Lost& lost : agent.all<Lost>())
    EXPECT_NE(lost.text.find(lost.host == 1 ? "no way there" : "no-such-ssh"), std::string::npos) << lost.text;
}

TEST(BranchTree, AKilledBranchIsLost) {
  AgentUnderTest agent;
  agent.send(Grow{{branch_of(1)}});
  ASSERT_TRUE(agent.wait_for<Hello>(2));
  ASSERT_EQ(::kill(agent.all<Hello>().back().pid, SIGKILL), 0);
  ASSERT_TRUE(agent.wait_for<Lost>());
  EXPECT_EQ(agent.all<Lost>().front().host, 1u);
}

}  // namespace
}  // namespace tutti::launch

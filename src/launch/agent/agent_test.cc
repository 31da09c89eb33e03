#include "launch/agent/agent.h"

#include <gtest/gtest.h>

#include <csignal>
#include <set>

#include "base/text.h"
#include "launch/agent/agent_under_test.h"
#include "os/clock.h"
#include "tutti/version.h"

namespace tutti::launch {
namespace {

double seconds_since(Time start) { return static_cast<double>(os::now().ns - start.ns) * 1e-9; }

TEST(Agent, SaysHelloAtOnceWithPortsThatDiffer) {
  AgentUnderTest agent({.port_count = 5});
  ASSERT_TRUE(agent.wait_for<Hello>());
  const Hello hello = agent.all<Hello>().front();
  EXPECT_EQ(hello.version, TUTTI_VERSION);
  EXPECT_FALSE(hello.host_name.empty());
  EXPECT_EQ(std::set(hello.ports.begin(), hello.ports.end()).size(), 5u);
  EXPECT_GT(hello.cores, 0u);
}

TEST(Agent, PassesOutputOnAndThenTheEnd) {
  AgentUnderTest agent;
  agent.begin("echo one; printf 'two\\nrest'; echo wrong >&2; exit 3", 7);
  ASSERT_TRUE(agent.wait_for<Ended>());
  EXPECT_EQ(agent.output(7), "one\ntwo\nrest");
  EXPECT_EQ(agent.output(7, Stream::err), "wrong\n");
  EXPECT_EQ(agent.all<Ended>(), std::vector<Ended>({{.rank = 7, .code = 3, .core = ""}}));
  EXPECT_TRUE(std::holds_alternative<Ended>(agent.heard.back().message)) << "nothing comes after it";
  EXPECT_EQ(agent.all<Started>().front().rank, 7);
}

TEST(Agent, PassesWholeLinesOn) {
  AgentUnderTest agent;
  agent.begin("seq 1 300000; printf %2000000s | tr ' ' x");
  ASSERT_TRUE(agent.wait_for<Ended>());
  std::size_t bytes = 0;
  for (const Output& output : agent.all<Output>()) {
    bytes += output.bytes.size();
    EXPECT_LE(output.bytes.size(), kOutputBytesMax);
    const bool is_in_long_line = text_of(output.bytes).find('x') != std::string_view::npos;
    EXPECT_TRUE(is_in_long_line || text_of(output.bytes).ends_with('\n'));
  }
  EXPECT_EQ(bytes, 1988895u + 2000000u);
}

TEST(Agent, AGrandchildThatKeepsTheOutputDoesNotDelayTheEnd) {
  AgentUnderTest agent;
  const Time start = os::now();
  agent.begin("sleep 1000 & echo $!; echo ready");
  ASSERT_TRUE(agent.wait_for<Ended>());
  EXPECT_LT(seconds_since(start), 20);
  agent.send(Stop{.grace_ms = 5000});
  ASSERT_TRUE(agent.wait_for<Gone>());
  EXPECT_TRUE(are_gone(agent.printed_pids(), std::chrono::seconds(1)));
}

TEST(Agent, NamesWhatItCannotStart) {
  AgentUnderTest agent;
  Order order = shell_order("", 3);
  order.command = {"no-such-program"};
  agent.begin(order);
  ASSERT_TRUE(agent.wait_for<CannotStart>());
  EXPECT_EQ(agent.all<CannotStart>().front().rank, 3);
  EXPECT_NE(agent.all<CannotStart>().front().text.find("'no-such-program'"), std::string::npos);
  EXPECT_TRUE(agent.all<Started>().empty());
}

TEST(Agent, GivesEachRankItsDevicesAndThreads) {
  AgentUnderTest agent;
  Order order = shell_order("echo $A $B $CUDA_VISIBLE_DEVICES; test $OMP_NUM_THREADS -ge 1");
  order.environment.emplace_back("A", "all");
  order.environment.emplace_back("CUDA_VISIBLE_DEVICES", "4,5,6,7");
  order.local_size = 2;
  order.devices_per_rank = 2;
  order.ranks = {{.rank = 0, .local_rank = 0, .variables = {{"B", "own"}}}, {.rank = 1, .local_rank = 1}};
  agent.begin(order);
  ASSERT_TRUE(agent.wait_for<Ended>(2));
  EXPECT_EQ(agent.output(0), "all own 4,5\n");
  EXPECT_EQ(agent.output(1), "all 6,7\n");
  for (const Ended& ended : agent.all<Ended>()) EXPECT_EQ(ended.code, 0);
}

TEST(Agent, GivesInputToTheFirstRankAlone) {
  AgentUnderTest agent;
  Order order = shell_order("cat; echo end");
  order.input = InputPolicy::first;
  order.ranks.push_back({.rank = 1, .local_rank = 1});
  agent.begin(order);
  ASSERT_TRUE(agent.wait_for<Started>(2));
  const std::string text(200'000, 'x');
  agent.send(Input{.rank = 0, .bytes = {bytes_of(text).begin(), bytes_of(text).end()}});
  agent.send(Input{.rank = 0, .is_end = true, .bytes = {}});
  ASSERT_TRUE(agent.wait_for<Ended>(2));
  EXPECT_EQ(agent.output(0), text + "end\n");
  EXPECT_EQ(agent.output(1), "end\n");
  std::size_t took = 0;
  for (const Took& each : agent.all<Took>()) took += each.bytes;
  EXPECT_EQ(took, text.size());
}

TEST(Agent, InputThatNobodyReadsIsAnsweredFor) {
  AgentUnderTest agent;
  agent.send(Input{.rank = 5, .bytes = Bytes(1000)});
  ASSERT_TRUE(agent.wait_for<Took>());
  EXPECT_EQ(agent.all<Took>().front(), (Took{.rank = 5, .bytes = 1000}));
}

TEST(Agent, TellsWhatRanksUse) {
  AgentUnderTest agent;
  agent.begin("echo ready; while true; do :; done");
  agent.printed_pids();
  agent.send(AskSamples{});
  ASSERT_TRUE(agent.wait_for<Samples>());
  const std::vector<Sample> samples = agent.all<Samples>().front().samples;
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].pid, agent.all<Started>().front().pid);
  EXPECT_GT(samples[0].memory_bytes, 0u);
}

TEST(Agent, StopAsksFirst) {
  AgentUnderTest agent;
  agent.begin("trap 'echo bye; exit 9' TERM; echo ready; while true; do sleep 0.01; done");
  agent.printed_pids();
  agent.send(Stop{.grace_ms = 20'000});
  ASSERT_TRUE(agent.wait_for<Gone>());
  EXPECT_EQ(agent.all<Ended>(), std::vector<Ended>({{.rank = 0, .code = 9, .was_stopped = true, .core = ""}}));
  EXPECT_EQ(agent.output(), "ready\nbye\n");
}

TEST(Agent, StopForcesAfterTheGraceAndAnotherBeginIsTaken) {
  AgentUnderTest agent;
  agent.begin(
      "trap '' TERM; (setsid sleep 1000 & echo $!); sleep 1001 & echo $!; echo ready; while true; do wait; done");
  const auto pids = agent.printed_pids();
  ASSERT_EQ(pids.size(), 3u);
  agent.send(Stop{.grace_ms = 100});
  ASSERT_TRUE(agent.wait_for<Gone>());
  EXPECT_TRUE(are_gone(pids, std::chrono::seconds(0))) << "nothing is left when Gone comes";
  EXPECT_EQ(agent.all<Ended>().front().signal, SIGKILL);
  agent.begin("echo again");
  ASSERT_TRUE(agent.wait_for<Ended>(2));
  EXPECT_TRUE(agent.output().ends_with("again\n"));
}

TEST(Agent, WithoutGraceRanksAreKilledAtOnce) {
  AgentUnderTest agent;
  agent.begin("echo ready; sleep 1000");
  agent.printed_pids();
  agent.send(Stop{.grace_ms = 0});
  ASSERT_TRUE(agent.wait_for<Gone>());
  EXPECT_EQ(agent.all<Ended>(), std::vector<Ended>({{.rank = 0, .signal = SIGKILL, .was_stopped = true, .core = ""}}));
}

TEST(Agent, AHaltedRankEndsToo) {
  AgentUnderTest agent;
  agent.begin("echo ready; sleep 1000");
  const auto pids = agent.printed_pids();
  agent.send(Signal{.rank = kNoRank, .signal = SIGSTOP});
  agent.send(Stop{.grace_ms = 20'000});
  ASSERT_TRUE(agent.wait_for<Gone>());
  EXPECT_EQ(agent.all<Ended>().front().signal, SIGTERM);
}

TEST(Agent, ASignalGoesToOneRank) {
  AgentUnderTest agent;
  Order order = shell_order("echo ready; sleep 1000");
  order.ranks.push_back({.rank = 1, .local_rank = 1});
  agent.begin(order);
  ASSERT_TRUE(agent.wait_for<Output>(2));
  agent.send(Signal{.rank = 1, .signal = SIGINT});
  ASSERT_TRUE(agent.wait_for<Ended>());
  EXPECT_EQ(agent.all<Ended>().front(), (Ended{.rank = 1, .signal = SIGINT, .was_stopped = true, .core = ""}));
}

TEST(Agent, BeatsWhenThereIsNothingElseToSay) {
  AgentUnderTest agent;
  EXPECT_TRUE(agent.wait_for<Beat>(2));
}

TEST(Agent, ManyRanksStartAndEnd) {
  AgentUnderTest agent;
  Order order = shell_order("echo $0");
  order.ranks.clear();
  for (Rank rank = 0; rank < 64; ++rank) order.ranks.push_back({.rank = rank, .local_rank = rank});
  order.local_size = 64;
  order.bind = BindPolicy::core;
  agent.begin(order);
  ASSERT_TRUE(agent.wait_for<Ended>(64));
  EXPECT_LE(agent.all<Note>().size(), 1u) << "about more ranks than cores";
  EXPECT_EQ(agent.all<Started>().size(), 64u);
}

}  // namespace
}  // namespace tutti::launch

// Every flag has its effect.
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/perf/tool_run.h"

namespace tutti::perf {
namespace {

const std::string kSmall = "-b 1K -e 1K -n 2 ";

TEST(Flags, SizesGoByBytesAndByFactors) {
  const auto by_bytes = rows_in(perf("all_reduce", "-b 100 -e 300 -i 100 -n 1 -g 2").output);
  ASSERT_EQ(by_bytes.size(), 3u);
  EXPECT_EQ(by_bytes[1][kSize], "200");
  const auto by_factor = rows_in(perf("all_reduce", "-b 8 -e 512 -f 8 -n 1 -g 2").output);
  ASSERT_EQ(by_factor.size(), 3u);
  EXPECT_EQ(by_factor[2][kSize], "512");
}

TEST(Flags, ASizeThatIsNeverReachedIsSaid) {
  const Ending ending = perf("all_reduce", "-b 8 -e 100 -f 2 -n 1 -g 2");
  expect_right(ending, 4);
  EXPECT_TRUE(ending.says("# the last size is 64 bytes: a factor of 2 from 8 never reaches 100 (-e)")) << ending.output;
}

TEST(Flags, ThreadsAndDevicesMakeRanks) {
  for (const auto& [line, ranks] : {std::pair{"-t 2 -g 3", 6}, {"-t 4", 4}, {"-g 5", 5}, {"-t 2 -g 2 -p 1", 4}}) {
    const Ending ending = perf("all_reduce", kSmall + line);
    expect_right(ending, 1);
    EXPECT_EQ(count_in(ending.output, "#  Rank "), static_cast<std::size_t>(ranks)) << ending.output;
  }
  EXPECT_TRUE(perf("all_reduce", kSmall + "-t 2 -p 1").says("# Parallel Init Enabled"));
}

TEST(Flags, OperationAndTypeStandInTheTable) {
  const auto rows = rows_in(perf("all_reduce", kSmall + "-g 2 -o max -d bfloat16").output);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0][kType], "bfloat16");
  EXPECT_EQ(rows[0][kOperation], "max");
}

TEST(Flags, IterationsStandInThePreamble) {
  const Ending ending = perf("all_reduce", "-b 1K -e 1K -g 2 -n 3 -w 4 -m 2 -c 2");
  expect_right(ending, 1);
  EXPECT_TRUE(ending.says("warmup iters: 4 iters: 3 agg iters: 2 validation: 2 graph: 0 unalign: 0")) << ending.output;
}

// Once for every warm-up, twice for every place, and for every iteration and check.
TEST(Flags, IterationsAreMade) {
  const auto calls = [](const std::string& line) {
    return count_in(faulty("watch", "-b 1K -e 1K -g 1 " + line).output, "watched: all-reduce");
  };
  EXPECT_EQ(calls("-w 0 -n 1 -c 0"), 2u + 2);
  EXPECT_EQ(calls("-w 3 -n 1 -c 0"), 2u + 2 + 3);
  EXPECT_EQ(calls("-w 0 -n 5 -c 0"), 2u + 10);
  EXPECT_EQ(calls("-w 0 -n 5 -m 3 -c 0"), 2u + 30);
  EXPECT_EQ(calls("-w 0 -n 1 -c 4"), 2u + 2 + 8);
  EXPECT_EQ(calls("-w 0 -n 1 -c 0 --repeat 3"), 3 * (2u + 2));
  EXPECT_EQ(calls("-w 0 -n 1 -c 0 -N 3"), 3 * (2u + 2));
}

TEST(Flags, CyclesRepeatTheTable) { expect_right(perf("all_reduce", kSmall + "-g 2 -N 3"), 3); }

TEST(Flags, NothingIsCheckedIfAsked) {
  const auto rows = rows_in(perf("all_reduce", kSmall + "-g 2 -c 0").output);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0][kWrong], "N/A");
  EXPECT_EQ(rows[0][kWrongInPlace], "N/A");
}

TEST(Flags, EveryWayOfWaitingIsRight) {
  for (const auto& [line, part] : {std::pair{"-z 1", "wait and barrier after each inner iteration"},
                                   {"-z 2", "wait after each inner iteration (-m), no barrier"},
                                   {"-z 3", "wait and barrier after each outer iteration"}}) {
    const Ending ending = perf("all_reduce", kSmall + "-t 2 " + line);
    expect_right(ending, 1);
    EXPECT_TRUE(ending.says(part)) << ending.output;
  }
}

TEST(Flags, TimesOfDayStandInTheTable) {
  const Ending ending = perf("all_reduce", kSmall + "-g 2 -S 1");
  EXPECT_TRUE(std::regex_search(ending.output, std::regex(R"(  0  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n)")))
      << ending.output;
}

TEST(Flags, SingleIterationsStandInTheTable) {
  const Ending ending = perf("all_reduce", "-b 1K -e 1K -n 5 -g 2 -I 1 -K 2");
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_TRUE(ending.says("summary skips first 2 iterations")) << ending.output;
  EXPECT_TRUE(ending.says("i_p99")) << ending.output;
  EXPECT_EQ(rows_in(ending.output).at(0).size(), 21u) << ending.output;
}

TEST(Flags, MemoryIsReported) {
  const Ending ending = perf("all_reduce", kSmall + "-g 2 -M 1");
  EXPECT_TRUE(std::regex_search(ending.output, std::regex("# GPU memory usage     : Initialization .* [A-Z]*B \\| "
                                                          "User-Allocated .* \\| Collective .* \\| Total  ")))
      << ending.output;
}

TEST(Flags, GraphsAreSaid) {
  const Ending ending = perf("all_reduce", kSmall + "-t 2 -G 3");
  expect_right(ending, 1);
  EXPECT_TRUE(ending.says("graph: 3")) << ending.output;
}

TEST(Flags, StreamsBuffersAndPoliciesReachTheLibrary) {
  const std::string line = "-b 1K -e 1K -n 1 -g 1 ";
  const Ending plain = faulty("watch", line);
  EXPECT_TRUE(plain.says("watched: all-reduce of 256 at 0 on a stream")) << plain.output;
  EXPECT_FALSE(plain.says("bytes registered")) << plain.output;
  EXPECT_TRUE(faulty("watch", line + "-y 1").says("at 0 on the null stream"));
  EXPECT_TRUE(faulty("watch", line + "-u 3").says("at 12 on a stream"));
  EXPECT_TRUE(faulty("watch", line + "-R 1").says("bytes registered"));
  EXPECT_TRUE(faulty("watch", line + "-R 2").says("bytes as a window, flags 1"));
  EXPECT_TRUE(faulty("watch", line + "-x 2").says("a communicator with CTA policy 2"));
  EXPECT_EQ(faulty("watch", line + "-V 32").exit_code, 0);
}

TEST(Flags, RegisteredBuffersGiveRightResults) {
  for (const char* line : {"-R 1", "-R 2", "-y 1", "-x 1", "-u 5"})
    expect_right(perf("all_reduce", kSmall + "-g 4 " + line), 1);
}

// One of two threads takes 50 ms to make its call.
TEST(Flags, TheTimeOfCallsIsThatOfTheThreadThatIsAskedFor) {
  const auto time = [](const std::string& line) {
    const Ending ending = faulty("slow", "-b 1K -e 1K -n 2 -t 2 -c 0 -w 0 -C 1 " + line);
    EXPECT_TRUE(ending.says("cputime")) << ending.output;
    return text::real_of(rows_in(ending.output).at(0)[kTime]).value_or(-1);
  };
  EXPECT_LT(time("-a 0"), 40000);
  EXPECT_GE(time("-a 1"), 25000);
  EXPECT_LT(time("-a 2"), 40000);
  EXPECT_GE(time("-a 3"), 50000);
}

TEST(Flags, AMeasurementThatTakesTooLongIsGivenUp) {
  const Ending ending = faulty("hang", kSmall + "-t 2 -T 1");
  EXPECT_EQ(ending.exit_code, 4) << ending.output;
  EXPECT_TRUE(ending.says("rank 0 is not done after 1 s (-T)")) << ending.output;
}

TEST(Flags, PlansAreExplained) {
  const Ending ending = perf("all_reduce", kSmall + "-g 4 --explain");
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_TRUE(std::regex_search(ending.output, std::regex("# +estimate .*, measured .*times as long")))
      << ending.output;
}

TEST(Flags, StragglersAreCounted) {
  const Folder folder;
  const Ending ending = perf("all_reduce", kSmall + "-t 3 --stragglers -J " + folder.file("x.json"));
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  const auto run = nlohmann::json::parse(content_of(folder.file("x.json")));
  EXPECT_TRUE(std::regex_search(ending.output, std::regex("slowest: rank [0-2] in [12] of 2 iterations")))
      << ending.output;
  const auto& stragglers = run["results"][0]["out_of_place"]["stragglers"];
  EXPECT_EQ(stragglers["mean_us"].size(), 3u) << run.dump();
  EXPECT_EQ(
      stragglers["slowest"][0].get<int>() + stragglers["slowest"][1].get<int>() + stragglers["slowest"][2].get<int>(),
      2)
      << run.dump();
}

TEST(Flags, RepetitionsAreKept) {
  const Folder folder;
  EXPECT_EQ(perf("all_reduce", kSmall + "-g 2 --repeat 3 -J " + folder.file("x.json")).exit_code, 0);
  const auto run = nlohmann::json::parse(content_of(folder.file("x.json")));
  EXPECT_EQ(run["results"][0]["in_place"]["repeats_us"].size(), 3u) << run.dump();
}

TEST(Flags, DevicesBeginWhereToldTo) {
  const Ending ending = perf("all_reduce", kSmall + "-g 2", {{"NCCL_TESTS_DEVICE", "4"}});
  expect_right(ending, 1);
  EXPECT_TRUE(ending.says("device  4 [")) << ending.output;
  EXPECT_TRUE(ending.says("device  5 [")) << ending.output;
  EXPECT_EQ(perf("all_reduce", kSmall + "-g 2", {{"NCCL_TESTS_DEVICE", "7"}}).exit_code, 5);
}

TEST(Flags, HelpAndVersionAreAnswered) {
  const Ending help = perf("all_reduce", "--help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* flag : {"--nthreads", "--per_iter_skip", "--compare", "--device_cta_count"})
    EXPECT_TRUE(help.says(flag)) << flag;
  EXPECT_EQ(perf("all_reduce", "--version").exit_code, 0);
}

// The step leads from 8 bytes beyond any memory, so that nothing large is touched.
TEST(Flags, SizesBeyondTheMemoryAreReduced) {
  const Ending ending = perf("all_reduce", "-b 8 -e 1T -f 1099511627776 -n 1 -w 0 -g 2");
  expect_right(ending, 1);
  EXPECT_TRUE(std::regex_search(ending.output, std::regex("# Reducing maxBytes to \\d+ due to memory limitation\n")))
      << ending.output;
}

}  // namespace
}  // namespace tutti::perf

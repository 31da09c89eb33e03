// What bench/compare concludes from what it measures, and that it gets rid of what it starts.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/comparison/contenders.h"
#include "bench/comparison/hosts.h"
#include "bench/comparison/processes.h"
#include "bench/comparison/report.h"
#include "bench/comparison/targets.h"

namespace tutti::bench {
namespace {

constexpr Case kMebibyte{plan::Collective::all_reduce, 2, 1 << 20};
constexpr double kLimitS = 20;

Report report_of_two_peers() {
  Report report;
  for (const double seconds : {5e-4, 3e-4, 4e-4}) report.samples.add(kMebibyte, "openmpi", seconds);
  for (const double seconds : {2.9e-4, 3e-4, 9e-4}) report.samples.add(kMebibyte, "mpich", seconds);
  for (const double seconds : {1e-4, 1.2e-4, 0.8e-4}) report.samples.add(kMebibyte, "tutti", seconds);
  report.samples.add(kMebibyte, "bound", 0.4e-4);
  return report;
}

TEST(Samples, MedianIsTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(spread({2, 1, 4}), 1.5);
}

TEST(Samples, BestPeerHasTheSmallestMedianAndIsNeitherTuttiNorTheBound) {
  const auto best = report_of_two_peers().samples.best_peer(kMebibyte);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->contender, "mpich");
  EXPECT_EQ(best->median_s, 3e-4);
}

TEST(Samples, WrongResultsCountForNothing) {
  Samples samples;
  samples.add_output("# a version\nall_reduce\t8\t2\t1.5e-06\t0\nall_reduce\t64\t2\t1e-06\t3\nnoise\n", "tutti");
  const Case right{plan::Collective::all_reduce, 2, 8};
  const Case wrong{plan::Collective::all_reduce, 2, 64};
  EXPECT_EQ(samples.times(right, "tutti"), std::vector<double>{1.5e-6});
  EXPECT_FALSE(samples.of(wrong, "tutti"));
  EXPECT_EQ(samples.wrong_count(wrong, "tutti"), 1);
  EXPECT_EQ(samples.wrong_count("tutti"), 1);
}

TEST(Targets, AreMetOrMissedByRatioAndByShareOfTheBound) {
  const auto score = score_of(report_of_two_peers().samples, kMebibyte, BufferKind::malloc);
  ASSERT_TRUE(score && score->ratio && score->of_bound);
  EXPECT_DOUBLE_EQ(score->ratio->value, 3.0);
  EXPECT_EQ(score->ratio->target, 2.3);
  EXPECT_TRUE(score->ratio->is_met());
  EXPECT_DOUBLE_EQ(score->of_bound->value, 0.4);
  EXPECT_FALSE(score->of_bound->is_met());
  EXPECT_FALSE(score_of(report_of_two_peers().samples, kMebibyte, BufferKind::allocated));
}

TEST(Targets, DependOnSizeRanksAndBuffers) {
  const auto target = [](Rank ranks, std::uint64_t bytes, BufferKind kind) {
    return ratio_target({plan::Collective::all_reduce, ranks, bytes}, kind);
  };
  EXPECT_EQ(target(2, 64, BufferKind::malloc), 2.5);
  EXPECT_EQ(target(2, 4096, BufferKind::malloc), 1.7);
  EXPECT_EQ(target(2, 8192, BufferKind::malloc), std::nullopt);
  EXPECT_EQ(target(2, 4096, BufferKind::allocated), 4.0);
  EXPECT_EQ(target(4, 4096, BufferKind::allocated), std::nullopt);
  EXPECT_EQ(target(8, 8, BufferKind::malloc), 1.8);
  EXPECT_EQ(ratio_target({plan::Collective::broadcast, 2, 1 << 15}, BufferKind::malloc), 1.2);
  EXPECT_EQ(ratio_target({plan::Collective::broadcast, 2, 1 << 12}, BufferKind::malloc), std::nullopt);
}

TEST(Report, TablesNameTheBestPeerAndCountTheTargets) {
  const std::string text = ratio_tables(report_of_two_peers());
  EXPECT_NE(text.find("mpich"), std::string::npos) << text;
  EXPECT_NE(text.find("2.3 met"), std::string::npos) << text;
  EXPECT_NE(text.find("40 % (50 % MISSED)"), std::string::npos) << text;
  EXPECT_NE(text.find("1 of 2 targets met"), std::string::npos) << text;
}

TEST(Report, JsonHasEverySample) {
  const auto json = nlohmann::json::parse(json_text(report_of_two_peers()));
  const auto& result = json.at("results").at(0);
  EXPECT_EQ(result.at("best_peer").at("contender"), "mpich");
  EXPECT_EQ(result.at("tutti").at("ratio_met"), true);
  EXPECT_EQ(result.at("contenders").at(1).at("seconds").size(), 3u);
}

TEST(Contenders, EachNumberOfRanksHasEachSettingOnce) {
  for (const Rank ranks : {2, 3, 4, 8, 16}) {
    std::vector<std::string> names;
    for (const Contender& contender : contenders_for(all_contenders(), ranks, plan::Collective::all_reduce))
      names.push_back(contender.name);
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end()) << ranks << " ranks";
    EXPECT_TRUE(std::binary_search(names.begin(), names.end(), "openmpi"));
  }
}

TEST(Contenders, SettingsThatChangeOnlyAllReduceStayOutOfTheRest) {
  for (const Contender& contender : contenders_for(all_contenders(), 8, plan::Collective::broadcast)) {
    EXPECT_EQ(contender.name.find("linear"), std::string::npos) << contender.name;
    EXPECT_NE(contender.name, kBound);
  }
}

TEST(Contenders, WhoHasNoLauncherGetsAProcessForEachRank) {
  const Request request{.sizes = {8, 64}, .ranks = 3};
  const Contender gloo{.name = "gloo-ring", .library = "gloo"};
  const Contender mpi{.name = "openmpi", .library = "openmpi"};
  const auto commands = commands_of(gloo, request, "/bin", "/store");
  ASSERT_EQ(commands.size(), 3u);
  const auto& words = commands[2].words;
  EXPECT_EQ(words[0], "/bin/bench_peer_gloo");
  EXPECT_NE(std::find(words.begin(), words.end(), "rank=2"), words.end());
  EXPECT_NE(std::find(words.begin(), words.end(), "sizes=8,64"), words.end());
  EXPECT_EQ(commands_of(mpi, request, "/bin", "/store").size(), 1u);
}

bool has_word(const Command& command, const std::string& word) {
  return std::find(command.words.begin(), command.words.end(), word) != command.words.end();
}

TEST(Hosts, RanksFillOneHostAfterTheOther) {
  const Request request{.sizes = {8}, .ranks = 4};
  const Network network{.host_count = 2, .rail_count = 2};
  const auto commands = commands_across_hosts({.name = "gloo", .library = "gloo"}, request, network, "/bin", "/store");
  ASSERT_EQ(commands.size(), 4u);
  EXPECT_TRUE(has_word(commands[1], "host0") && has_word(commands[1], "address=10.77.0.1"));
  EXPECT_TRUE(has_word(commands[2], "host1") && has_word(commands[2], "address=10.77.0.2"));
  const auto mpi = commands_across_hosts({.name = "mpi", .library = "openmpi"}, request, network, "/bin", "/store");
  ASSERT_EQ(mpi.size(), 1u);
  EXPECT_TRUE(has_word(mpi[0], "host0:2,host1:2"));
  EXPECT_TRUE(has_word(mpi[0], "10.77.0.0/24,10.77.1.0/24")) << "both rails carry data";
}

TEST(Hosts, OnlyRankZeroOfTuttiWritesTheIdentifier) {
  const auto commands = commands_across_hosts({.name = "tutti", .library = "tutti"}, {.sizes = {8}, .ranks = 2},
                                              {.host_count = 2}, "/bin", "/id");
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_TRUE(has_word(commands[0], "identifier_out=/id"));
  EXPECT_TRUE(has_word(commands[1], "identifier_in=/id"));
}

TEST(Hosts, TargetsAskMoreOfSeveralRanksOnAHost) {
  const Network network{.host_count = 2};
  EXPECT_EQ(ratio_target({plan::Collective::all_reduce, 2, 8}, BufferKind::malloc, network), 1.2);
  EXPECT_EQ(ratio_target({plan::Collective::broadcast, 4, 8}, BufferKind::malloc, network), 2.0);
  EXPECT_EQ(bound_target({plan::Collective::all_reduce, 2, 4 << 20}, BufferKind::malloc, network), 0.95);
}

TEST(Hosts, TheLineCarriesTheVectorOnceEachWayBetweenTwoHosts) {
  const Case what{plan::Collective::all_reduce, 2, 1'448'000};
  Network network{.host_count = 2, .bits_per_second = 1'514'000 * 8};  // 1,000 full packets a second
  EXPECT_NEAR(*line_s(what, network), 1.0, 1e-9);
  network.rail_count = 2;
  EXPECT_NEAR(*line_s(what, network), 0.5, 1e-9);
  network.bits_per_second = 0;
  EXPECT_FALSE(line_s(what, network));
}

TEST(Report, TimesOfThoseWhoFailedOrErredAreMarked) {
  Report report = report_of_two_peers();
  report.samples.add_wrong(kMebibyte, "mpich");
  report.failures.push_back({"openmpi", "all_reduce, 2 ranks, openmpi: stopped after 60 s"});
  const std::string text = time_tables(report);
  EXPECT_NE(text.find("! openmpi"), std::string::npos) << text;
  EXPECT_NE(text.find("300?"), std::string::npos) << text;
}

TEST(Processes, WhoHasMeasuredEverythingIsNotAwaitedForLong) {
  const auto outcome = run_together({{{"sh", "-c", "echo '# end'; exec sleep 600"}, {}}}, 600);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->is_late && outcome->is_complete);
  EXPECT_LT(outcome->wall_s, kLimitS);
}

TEST(Processes, OutputOfAllIsCollectedAndTheFirstFailureKept) {
  const auto outcome =
      run_together({{{"sh", "-c", "echo $WORD; exit 0"}, {{"WORD", "hello"}}}, {{"sh", "-c", "exit 7"}, {}}}, kLimitS);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->output, "hello\n");
  EXPECT_EQ(outcome->exit_code, 7);
  EXPECT_FALSE(outcome->is_late);
}

TEST(Processes, WhatExceedsTheLimitIsStoppedWithWhatItStarted) {
  const auto outcome = run_together({{{"sh", "-c", "sleep 600 & wait"}, {}}}, 0.1);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->is_late);
  EXPECT_LT(outcome->wall_s, kLimitS);
}

TEST(Processes, OthersAreStoppedWhenOneFails) {
  const auto outcome = run_together({{{"sleep", "600"}, {}}, {{"sh", "-c", "exit 3"}, {}}}, 600);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->exit_code, 3);
  EXPECT_FALSE(outcome->is_late);
  EXPECT_LT(outcome->wall_s, kLimitS);
}

TEST(Processes, AProgramThatIsNotThereIsAFailureWithAName) {
  const auto outcome = run_together({{{"no-such-program-anywhere"}, {}}}, kLimitS);
  ASSERT_TRUE(outcome);
  EXPECT_NE(outcome->exit_code, 0);
  EXPECT_NE(outcome->errors.find("no-such-program-anywhere"), std::string::npos);
}

}  // namespace
}  // namespace tutti::bench

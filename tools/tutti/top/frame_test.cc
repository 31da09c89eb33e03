#include "tools/tutti/top/frame.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "launch/control/fake_job_for_test.h"
#include "tools/tutti/display_width.h"

namespace tutti::tool::top {
namespace {

using launch::JobStatus;
using launch::RankState;
using launch::control::some_job;

constexpr Time kNow{1'000'000'000'000};

JobStatus many(Rank count) {
  JobStatus job{.name = "big", .started = kNow, .state = launch::JobState::running};
  for (Rank rank = 0; rank < count; ++rank) {
    job.ranks.push_back({.rank = rank,
                         .host = fmt::format("gpu{}", rank / 8),
                         .pid = 1000 + rank,
                         .state = RankState::running,
                         .sample = launch::Sample{}});
    job.ranks.back().sample->cpu_permille = static_cast<std::uint32_t>(rank);
    job.ranks.back().sample->memory_bytes = static_cast<std::uint64_t>(count - rank) << 20;
  }
  return job;
}

std::vector<std::string> texts(const JobStatus& job, const View& view) {
  std::vector<std::string> lines;
  for (const Line& line : frame_of(job, view, kNow)) lines.push_back(line.text);
  return lines;
}

TEST(TopFrame, ShowsTheJobItsRanksAndWhoIsWaitedFor) {
  JobStatus job = some_job();
  job.started = {kNow.ns - 61'000'000'000};
  const auto lines = texts(job, {.size = {120, 12}});
  ASSERT_EQ(lines.size(), 12u);
  EXPECT_EQ(lines[0], "job train: running for 1m01s, 2 of 3 ranks alive on gpu1,gpu2, 12.5 GB/s together");
  EXPECT_EQ(lines[1], "1 rank waits for rank 0 (gpu1)");
  EXPECT_EQ(lines[2].substr(0, 40), "RANK  HOST      PID  STATE       CPU%   ");
  EXPECT_EQ(lines[3].substr(0, 30), "   0  gpu1      100  running  ");
  EXPECT_NE(lines[4].find("99.8"), std::string::npos) << lines[4];
  EXPECT_NE(lines[4].find("all_reduce of 1000 float32, sum"), std::string::npos) << lines[4];
  EXPECT_NE(lines[4].find("12.5 GB/s"), std::string::npos) << lines[4];
  EXPECT_NE(lines[5].find("SIGKILL"), std::string::npos) << lines[5];
  EXPECT_EQ(lines[6], "");
  EXPECT_TRUE(lines[11].starts_with("q quit")) << lines[11];
}

TEST(TopFrame, NamesTheRankThatMostOthersWaitFor) {
  JobStatus job = many(8);
  EXPECT_EQ(waiting_text(job), "");
  for (const Rank rank : {0, 1, 3}) job.ranks[static_cast<std::size_t>(rank)].sample->waits_for = "5";
  job.ranks[4].sample->waits_for = "6";
  job.ranks[7].sample->waits_for = "rank 3 (pid 9 on x)";
  EXPECT_EQ(waiting_text(job), "3 ranks wait for rank 5 (gpu0)");
  job.ranks[0].state = RankState::ended;
  EXPECT_EQ(waiting_text(job), "2 ranks wait for rank 5 (gpu0)") << "who has ended waits for nobody";
}

TEST(TopFrame, SortsAsAsked) {
  JobStatus job = many(6);
  job.ranks[1].sample->waits_for = "4";
  const auto order = [&](Order by) {
    std::string ranks;
    const auto lines = texts(job, {.size = {100, 20}, .order = by});
    for (std::size_t i = 3; i < 9; ++i) ranks += lines[i][3];
    return ranks;
  };
  EXPECT_EQ(order(Order::rank), "012345");
  EXPECT_EQ(order(Order::cpu), "543210");
  EXPECT_EQ(order(Order::memory), "012345");
  EXPECT_EQ(order(Order::waiting), "410235");
}

TEST(TopFrame, ShowsAPageOfManyRanks) {
  const JobStatus job = many(100);
  const Size size{100, 24};
  EXPECT_EQ(page_rows(size, true), 20u);
  EXPECT_EQ(first_max(job, size), 80u);
  const auto page = texts(job, {.size = size, .first = 40});
  ASSERT_EQ(page.size(), 24u);
  EXPECT_TRUE(page[3].starts_with("  40  ")) << page[3];
  EXPECT_NE(page[23].find("41-60 of 100"), std::string::npos) << page[23];
  const auto last = texts(job, {.size = size, .first = 1000});
  EXPECT_TRUE(last[22].starts_with("  99  ")) << last[22];
}

TEST(TopFrame, ShowsAllRanksWhenAskedForOnce) {
  const auto lines = texts(many(1000), {.size = {160, 100'000}, .has_footer = false});
  EXPECT_EQ(lines.size(), 1003u);
}

TEST(TopFrame, NeverBreaksALine) {
  JobStatus job = some_job();
  job.name = "jöb";
  job.ranks[0].host = "計算機-ノード-計算機-ノード";
  job.ranks[1].host = "evil\x1b[2J\nhost";
  job.ranks[1].sample->call = std::string(500, 'x');
  job.ranks[1].sample->waits_for = "\xff\xfe";
  for (std::size_t columns = 1; columns < 200; ++columns) {
    for (const std::size_t rows : {1u, 3u, 5u, 24u}) {
      const auto lines = texts(job, {.size = {columns, rows}});
      ASSERT_LE(lines.size(), rows);
      for (const std::string& line : lines) {
        ASSERT_LE(width_of(line), columns) << line;
        ASSERT_EQ(line, printable(line));
      }
    }
  }
}

TEST(TopFrame, SaysThatTheLauncherIsSilent) {
  const auto lines = texts(some_job(), {.size = {160, 24}, .silent_s = 5.2});
  EXPECT_NE(lines[0].find("NO ANSWER for 5s"), std::string::npos) << lines[0];
}

}  // namespace
}  // namespace tutti::tool::top

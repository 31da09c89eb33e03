#include "tools/perf/judge/series.h"

#include <gtest/gtest.h>

#include "tools/perf/judge/made_run.h"

namespace tutti::perf {
namespace {

TEST(Series, AreInTheOrderOfTheRun) {
  const perf::Run run = run_of({row_of(16, {5}, {6}), row_of(8, {3})});
  const auto series = series_of(run);
  ASSERT_EQ(series.size(), 3U);
  EXPECT_EQ(text_of(series[0].subject), "16 B float sum out of place");
  EXPECT_EQ(text_of(series[1].subject), "16 B float sum in place");
  EXPECT_EQ(series[2].time_us, 3);
}

TEST(Series, LeaveOutTimesThatAreNone) {
  const perf::Run run = run_of({row_of(16, {0, -1, 5}), row_of(8, {0})});
  const auto series = series_of(run);
  ASSERT_EQ(series.size(), 1U);
  EXPECT_EQ(series[0].repeats_us, std::vector<double>{5});
}

TEST(Series, TakeTheTimeWhereThereAreNoRepetitions) {
  perf::Run run = run_of({row_of(16, {5})});
  run.rows[0].out_of_place->repeats_us.clear();
  EXPECT_EQ(series_of(run)[0].repeats_us, std::vector<double>{5});
}

TEST(CollectiveName, IsThatOfTheProgram) {
  perf::Run run;
  EXPECT_EQ(collective_name(run), "");
  run.setup.program = "./build/reduce_scatter_perf_mpi";
  EXPECT_EQ(collective_name(run), "reduce_scatter");
}

TEST(RankCount, ComesFromSeatsOrFromTheSetup) {
  EXPECT_EQ(rank_count(run_of({}, 5)), 5U);
  perf::Run run;
  run.setup.threads = 2;
  run.setup.devices_per_thread = 4;
  run.setup.processes = 2;
  EXPECT_EQ(rank_count(run), 16U);
  run.setup.processes = 0;
  EXPECT_FALSE(rank_count(run));
}

}  // namespace
}  // namespace tutti::perf

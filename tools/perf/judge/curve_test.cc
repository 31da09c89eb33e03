#include "tools/perf/judge/curve.h"

#include <gtest/gtest.h>

#include "tools/perf/judge/made_run.h"

namespace tutti::perf {
namespace {

// Points of 1 MiB, 2 MiB, 4 MiB ... with these times.
perf::Run doubling(const std::vector<double>& times_us) {
  std::vector<Row> rows;
  std::uint64_t bytes = 1 << 20;
  for (const double time_us : times_us) {
    rows.push_back(row_of(bytes, {time_us}));
    bytes *= 2;
  }
  return run_of(std::move(rows));
}

std::vector<Dip> dips(const perf::Run& run) { return dips_of(curves_of(run).front()); }

TEST(SizeCurve, IsSortedBySize) {
  const perf::Run run = run_of({row_of(16, {2}), row_of(8, {1}), row_of(32, {3})});
  const auto curves = curves_of(run);
  ASSERT_EQ(curves.size(), 1U);
  EXPECT_EQ(curves[0].points[0].subject.bytes, 8U);
  EXPECT_EQ(sizes_text(curves[0], {1, 2}), "16 B to 32 B");
}

TEST(SizeCurve, PairsPlacements) {
  perf::Run run = run_of({row_of(16, {2}, {3}), row_of(16, {2})});
  run.rows[1].type = "half";
  const auto curves = curves_of(run);
  const auto pairs = pairs_of(curves);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].both().size(), 2U);
  EXPECT_EQ(pairs[1].both().size(), 1U);
  EXPECT_EQ(pairs[1].label, "half sum: ");
}

TEST(Stretches, AreAsLongAsTheyCanBe) {
  const std::vector<bool> values = {true, false, true, true, true, false, true};
  EXPECT_EQ(stretches(values.size(), [&](std::size_t i) { return values[i]; }),
            (std::vector<Stretch>{{0, 0}, {2, 4}, {6, 6}}));
  EXPECT_TRUE(stretches(0, [](std::size_t) { return true; }).empty());
}

TEST(Dip, IsNoneWhereBandwidthOnlyRises) { EXPECT_TRUE(dips(doubling({30, 32, 40, 60, 100, 190, 370})).empty()); }

// Beyond the caches a machine has less bandwidth, and keeps it.
TEST(Dip, IsNoneWhereBandwidthFallsForGood) { EXPECT_TRUE(dips(doubling({30, 50, 90, 300, 620, 1200})).empty()); }

TEST(Dip, IsNoneWhereTimesScatter) { EXPECT_TRUE(dips(doubling({100, 205, 430, 830, 1700, 3210})).empty()); }

TEST(Dip, NamesTheDeepestSizeAndWhatItShouldHaveTaken) {
  const auto found = dips(doubling({100, 150, 200, 1000, 1500, 1600, 3000}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].stretch, (Stretch{3, 4}));
  EXPECT_EQ(found[0].deepest, 3U);
  EXPECT_EQ(found[0].reference, 2U);
  EXPECT_DOUBLE_EQ(found[0].expected_us, 400);
  EXPECT_FALSE(found[0].is_in_all_repeats);
}

TEST(Dip, KnowsWhetherAllRepetitionsShowIt) {
  perf::Run run = doubling({100, 150, 900, 450, 850});
  run.rows[2].out_of_place = measurement_of({850, 900, 950});
  EXPECT_TRUE(dips(run)[0].is_in_all_repeats);
  run.rows[2].out_of_place = measurement_of({290, 900, 950});
  EXPECT_FALSE(dips(run)[0].is_in_all_repeats);
}

}  // namespace
}  // namespace tutti::perf

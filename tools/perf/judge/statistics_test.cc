#include "tools/perf/judge/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace tutti::perf {
namespace {

// Permeability of membranes, the example of Hollander and Wolfe (1973): its results are in textbooks and manuals.
const std::vector<double> kTerm = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
const std::vector<double> kWeek12 = {1.15, 0.88, 0.90, 0.74, 1.21};

std::vector<double> counted_to(int last) {
  std::vector<double> numbers(static_cast<std::size_t>(last));
  std::iota(numbers.begin(), numbers.end(), 1);
  return numbers;
}

TEST(Distribution, OfNoSamplesIsNothing) { EXPECT_FALSE(distribution_of({})); }

TEST(Distribution, TakesNearestRanks) {
  const auto found = distribution_of(counted_to(200));
  EXPECT_EQ(found->min_us, 1);
  EXPECT_EQ(found->max_us, 200);
  EXPECT_EQ(found->mean_us, 100.5);
  EXPECT_EQ(found->p50_us, 101);
  EXPECT_EQ(found->p95_us, 190);
  EXPECT_EQ(found->p99_us, 198);
}

TEST(Distribution, HasItsMaximumAsP99BelowAHundredSamples) {
  const auto found = distribution_of(counted_to(20));
  EXPECT_EQ(found->p99_us, 20);
  EXPECT_EQ(found->p95_us, 19);
  EXPECT_EQ(found->p50_us, 11);
}

TEST(Distribution, OfOneSampleIsThatSample) {
  const auto found = distribution_of(std::vector<double>{7});
  EXPECT_EQ(found->p50_us, 7);
  EXPECT_EQ(found->p99_us, 7);
  EXPECT_EQ(found->deviation_us, 0);
}

TEST(Distribution, DividesByTheNumberOfSamples) {
  const auto found = distribution_of(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_DOUBLE_EQ(found->deviation_us, 2);
  EXPECT_DOUBLE_EQ(found->variation_percent, 40);
}

TEST(Distribution, LeavesOutWhatIsNoNumber) {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(distribution_of(std::vector<double>{nothing, 3, nothing, 1})->max_us, 3);
  EXPECT_FALSE(distribution_of(std::vector<double>{nothing}));
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoThere) {
  EXPECT_EQ(median_of(std::vector<double>{9, 1, 5}), 5);
  EXPECT_EQ(median_of(std::vector<double>{9, 1, 5, 6}), 5.5);
  EXPECT_EQ(median_of({}), 0);
}

TEST(RankTest, GivesTheTextbookValue) {
  const RankTest found = rank_test(kTerm, kWeek12);
  EXPECT_NEAR(found.greater, 0.1272061272, 1e-9);
  EXPECT_NEAR(found.less, 0.8967698968, 1e-9);
}

// The values are counted out: 462 ways to choose 5 of the 11 mid-ranks.
TEST(RankTest, IsExactWithTies) {
  const RankTest found = rank_test(std::vector<double>{1, 2, 2, 3, 5}, std::vector<double>{2, 3, 4, 4, 6, 7});
  EXPECT_NEAR(found.greater, 439.0 / 462, 1e-12);
  EXPECT_NEAR(found.less, 29.0 / 462, 1e-12);
}

TEST(RankTest, GivesTheSmallestProbabilityForSetsApart) {
  const std::vector<double> low = counted_to(5);
  const std::vector<double> high = {101, 102, 103, 104, 105};
  EXPECT_NEAR(rank_test(high, low).greater, 1.0 / 252, 1e-12);
  EXPECT_NEAR(rank_test(low, high).less, 1.0 / 252, 1e-12);
  EXPECT_NEAR(smallest_probability(5, 5), 1.0 / 252, 1e-12);
  EXPECT_NEAR(smallest_probability(3, 1), 0.25, 1e-12);
}

TEST(RankTest, SaysNothingOfEqualValues) {
  const std::vector<double> same(30, 4.0);
  EXPECT_EQ(rank_test(same, same).greater, 1);
  EXPECT_EQ(rank_test(std::vector<double>(5, 4.0), std::vector<double>(5, 4.0)).less, 1);
  EXPECT_EQ(rank_test({}, same).less, 1);
}

TEST(RankTest, IsNotMovedByOneWildValue) {
  const std::vector<double> calm = {10, 11, 12, 13, 14};
  const std::vector<double> wild = {10.5, 11.5, 12.5, 13.5, 1e6};
  EXPECT_GT(rank_test(wild, calm).greater, 0.2);
}

// Just below and just above the limit of the exact form, the same pattern of values.
TEST(RankTest, ChangesLittleWhereTheApproximationTakesOver) {
  const auto probability = [](int count) {
    std::vector<double> x, y;
    for (int i = 0; i < count; ++i) {
      x.push_back(i + 4.5);
      y.push_back(i);
    }
    return rank_test(x, y).greater;
  };
  const double exact = probability(20);
  const double normal = probability(21);
  EXPECT_NEAR(exact, normal, 0.02);
  EXPECT_GT(exact, 0.01);
  EXPECT_LT(exact, 0.2);
}

TEST(Shift, GivesTheTextbookEstimateAndInterval) {
  const Shift found = shift_of(kTerm, kWeek12, 0.95);
  EXPECT_NEAR(found.estimate, 0.305, 1e-12);
  ASSERT_TRUE(found.interval);
  EXPECT_NEAR(found.interval->low, -0.15, 1e-12);
  EXPECT_NEAR(found.interval->high, 0.76, 1e-12);
  const auto narrower = shift_of(kTerm, kWeek12, 0.80).interval;
  EXPECT_NEAR(narrower->low, -0.05, 1e-12);
  EXPECT_NEAR(narrower->high, 0.70, 1e-12);
}

TEST(Shift, HasNoIntervalWhereTheSamplesAreTooFew) {
  EXPECT_FALSE(shift_of(std::vector<double>{1, 2, 3}, std::vector<double>{1, 2, 3}, 0.95).interval);
  EXPECT_TRUE(shift_of(std::vector<double>{1, 2, 3, 4}, std::vector<double>{1, 2, 3, 4}, 0.95).interval);
}

TEST(Shift, OfManySamplesIsThatOfTheirShape) {
  std::vector<double> x, y;
  for (int i = 0; i < 5000; ++i) {
    x.push_back(i % 100 + 7);
    y.push_back(i % 100);
  }
  const Shift found = shift_of(x, y, 0.95);
  EXPECT_NEAR(found.estimate, 7, 0.5);
  ASSERT_TRUE(found.interval);
  EXPECT_LT(found.interval->low, 7);
  EXPECT_GT(found.interval->high, 7);
}

TEST(Corrected, FollowsBenjaminiAndHochberg) {
  const std::vector<double> found = corrected(std::vector<double>{0.01, 0.04, 0.03, 0.005});
  ASSERT_EQ(found.size(), 4U);
  EXPECT_NEAR(found[0], 0.02, 1e-12);
  EXPECT_NEAR(found[1], 0.04, 1e-12);
  EXPECT_NEAR(found[2], 0.04, 1e-12);
  EXPECT_NEAR(found[3], 0.02, 1e-12);
  EXPECT_EQ(corrected(std::vector<double>{0.9, 1.0})[1], 1.0);
  EXPECT_TRUE(corrected({}).empty());
}

TEST(Binomial, CountsTheTail) {
  EXPECT_NEAR(binomial_at_least(5, 20, 0.125), 0.09501116598654, 1e-12);
  EXPECT_NEAR(binomial_at_least(18, 20, 0.125), 8.1974e-15, 1e-18);
  EXPECT_EQ(binomial_at_least(0, 20, 0.5), 1);
  EXPECT_EQ(binomial_at_least(21, 20, 0.5), 0);
}

}  // namespace
}  // namespace tutti::perf

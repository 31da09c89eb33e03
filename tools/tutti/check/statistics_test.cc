#include "tools/tutti/check/statistics.h"

#include <gtest/gtest.h>

namespace tutti::tool::check {
namespace {

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of({3}), 3);
  EXPECT_EQ(median_of({9, 1, 5}), 5);
  EXPECT_EQ(median_of({9, 1, 5, 7}), 6);
}

TEST(ClockOffset, TrustsTheFastestAnswer) {
  // The other clock is 5 s ahead; the slow answers have waited on one way only and say something else.
  const std::int64_t second = 1'000'000'000;
  const std::vector<ClockSample> samples = {{0, 5 * second + 100'000'000, 110'000'000},
                                            {second, 6 * second + 1'000, second + 2'000},
                                            {2 * second, 7 * second + 1'000, 2 * second + 300'000'000}};
  EXPECT_DOUBLE_EQ(clock_offset_s(samples), 5);
  EXPECT_EQ(clock_offset_s({}), 0);
}

}  // namespace
}  // namespace tutti::tool::check

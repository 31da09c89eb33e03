#include "os/ticks.h"

#include <gtest/gtest.h>

namespace tutti::os {
namespace {

TEST(Ticks, NeedEveryFlagOfTheCore) {
  const std::string_view cpuinfo = "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\nbugs\t\t:\n";
  EXPECT_TRUE(has_all_flags(cpuinfo, "constant_tsc nonstop_tsc"));
  EXPECT_FALSE(has_all_flags(cpuinfo, "constant_tsc nonstop"));
  EXPECT_FALSE(has_all_flags("", "constant_tsc"));
  EXPECT_TRUE(has_all_flags("", ""));
}

TEST(Ticks, GrowAndMeanTheTimeThatTheClockShows) {
  for (const TickSource source : {tick_source(), TickSource::clock}) {
    const TickPoint first = tick_point(source);
    std::uint64_t middle = 0;
    Time clock;
    while (clock.ns < first.time.ns + 2'000'000) {
      clock = now();
      middle = ticks(source);
    }
    TickPoint last = tick_point(source);
    while (last.time.ns < clock.ns + 2'000'000) last = tick_point(source);
    EXPECT_LT(first.ticks, middle);
    EXPECT_LT(middle, last.ticks);
    // The thread may lose its core between the two looks, so only the order is certain, and that the scale is right.
    EXPECT_GE(time_of(middle, first, last).ns + 100'000, clock.ns);
    EXPECT_LE(time_of(middle, first, last).ns, last.time.ns + 100'000);
  }
}

TEST(Ticks, AreScaledBetweenTwoMoments) {
  const TickPoint first{.ticks = 1000, .time = {50'000}};
  const TickPoint last{.ticks = 3000, .time = {51'000}};
  EXPECT_EQ(time_of(1000, first, last).ns, 50'000u);
  EXPECT_EQ(time_of(2000, first, last).ns, 50'500u);
  EXPECT_EQ(time_of(3002, first, last).ns, 51'001u);
  EXPECT_EQ(time_of(7, last, last).ns, 51'000u) << "without a scale: the moment that is known";
}

}  // namespace
}  // namespace tutti::os

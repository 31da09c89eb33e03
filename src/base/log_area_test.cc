#include "base/log_area.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

LogAreas areas_of(std::string_view text) {
  const auto areas = parse_log_areas(text);
  EXPECT_TRUE(areas) << areas.status().text();
  return areas ? *areas : LogAreas::none();
}

constexpr LogAreas kNetworkAndPlans = LogAreas::of(LogArea::network).with(LogAreas::of(LogArea::plans));

TEST(LogAreas, NothingSaidIsEverything) {
  EXPECT_EQ(areas_of(""), LogAreas::all());
  EXPECT_EQ(areas_of("all"), LogAreas::all());
}

TEST(LogAreas, OurWordsAndThoseOfNcclAreUnderstoodInAnyCase) {
  EXPECT_EQ(areas_of("network,plans"), kNetworkAndPlans);
  EXPECT_EQ(areas_of("NET,Tuning"), kNetworkAndPlans);
  EXPECT_EQ(areas_of("GRAPH, net"), kNetworkAndPlans);
  EXPECT_EQ(areas_of("NVLS"), LogAreas::none());
}

TEST(LogAreas, ACaretLeavesOut) {
  EXPECT_EQ(areas_of("^NET,TUNING"), LogAreas::all().without(kNetworkAndPlans));
  EXPECT_EQ(areas_of("ALL,^NET,^TUNING"), LogAreas::all().without(kNetworkAndPlans));
  EXPECT_FALSE(areas_of("^ENV").contains(LogArea::settings));
}

TEST(LogAreas, AnUnknownWordIsAnErrorWithTheNearest) {
  EXPECT_EQ(parse_log_areas("NET,tunning").status().text(), "'tunning' is no area of the log, did you mean 'tuning'?");
  EXPECT_FALSE(parse_log_areas("NET,"));
}

}  // namespace
}  // namespace tutti

#include "tools/tutti/check/cluster.h"

#include <gtest/gtest.h>

#include "tools/tutti/check/cluster_for_test.h"

namespace tutti::tool::check {
namespace {

TEST(Cluster, HasEachDirectionInItsPlace) {
  Cluster cluster = good_cluster(3);
  pair_between(cluster, 0, 2).there_bytes_per_s = 1e9;
  pair_between(cluster, 0, 2).back_bytes_per_s = 2e9;
  const Grid grid = bandwidths_of(cluster);
  EXPECT_EQ(grid.at(0, 2), 1e9);
  EXPECT_EQ(grid.at(2, 0), 2e9);
  EXPECT_EQ(grid.at(1, 1), std::nullopt);
  EXPECT_EQ(grid.median(), 3e9);
}

TEST(Cluster, KnowsNothingOfPairsThatFailed) {
  Cluster cluster = good_cluster(3);
  pair_between(cluster, 0, 1).failure = "refused";
  EXPECT_EQ(latencies_of(cluster).at(0, 1), std::nullopt);
  EXPECT_EQ(latencies_of(cluster).at(1, 0), std::nullopt);
  EXPECT_EQ(latencies_of(cluster).at(1, 2), 20e-6);
}

TEST(Cluster, FindsClocksOverOtherHostsWhereThePairWithTheFirstFailed) {
  Cluster cluster = good_cluster(3);
  pair_between(cluster, 0, 2).failure = "refused";
  pair_between(cluster, 0, 1).clock_offset_s = 2;
  pair_between(cluster, 1, 2).clock_offset_s = -3;
  const auto offsets = clock_offsets_of(cluster);
  EXPECT_EQ(offsets[0], 0);
  EXPECT_EQ(offsets[1], 2);
  EXPECT_EQ(offsets[2], -1);
  pair_between(cluster, 1, 2).failure = "refused";
  EXPECT_EQ(clock_offsets_of(cluster)[2], std::nullopt);
}

}  // namespace
}  // namespace tutti::tool::check

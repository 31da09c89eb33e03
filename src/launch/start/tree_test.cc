#include "launch/start/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace tutti::launch {
namespace {

std::vector<HostIndex> hosts(std::size_t count) {
  std::vector<HostIndex> all(count);
  std::iota(all.begin(), all.end(), HostIndex{0});
  return all;
}

std::size_t widest(const std::vector<Bough>& boughs) {
  std::size_t width = boughs.size();
  for (const Bough& bough : boughs) width = std::max(width, widest(bough.boughs));
  return width;
}

struct Size {
  std::size_t hosts;
  int depth;
};

class TreeOf : public testing::TestWithParam<Size> {};

TEST_P(TreeOf, HasEveryHostOnceWithinItsWidthAndDepth) {
  const auto boughs = tree_of(hosts(GetParam().hosts), 16);
  std::vector<HostIndex> all;
  for (const Bough& bough : boughs) {
    const auto some = hosts_of(bough);
    all.insert(all.end(), some.begin(), some.end());
  }
  EXPECT_EQ(all, hosts(GetParam().hosts));
  EXPECT_LE(widest(boughs), 16u);
  EXPECT_EQ(depth_of(boughs), GetParam().depth);
}

TEST_P(TreeOf, SharesTheHostsEvenly) {
  const auto boughs = tree_of(hosts(GetParam().hosts), 16);
  std::size_t least = GetParam().hosts, most = 0;
  for (const Bough& bough : boughs) {
    least = std::min(least, hosts_of(bough).size());
    most = std::max(most, hosts_of(bough).size());
  }
  EXPECT_LE(most - least, 1u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, TreeOf,
                         testing::Values(Size{1, 1}, Size{2, 1}, Size{16, 1}, Size{17, 2}, Size{64, 2}, Size{1000, 3}),
                         [](const auto& size) { return std::to_string(size.param.hosts); });

TEST(Tree, OfNoHostsIsEmpty) {
  EXPECT_TRUE(tree_of({}, 16).empty());
  EXPECT_EQ(depth_of({}), 0);
}

TEST(Tree, OfNoWidthHasAllHostsAtTheTop) {
  EXPECT_EQ(tree_of(hosts(1000), 0).size(), 1000u);
  EXPECT_EQ(depth_of(tree_of(hosts(1000), 0)), 1);
}

TEST(Tree, OfWidthOneIsAChain) { EXPECT_EQ(depth_of(tree_of(hosts(5), 1)), 5); }

TEST(Tree, FindsTheBoughOfAHost) {
  const auto boughs = tree_of(hosts(64), 4);
  for (HostIndex host = 0; host < 64; ++host) {
    const Bough* bough = find_bough(boughs, host);
    ASSERT_NE(bough, nullptr);
    EXPECT_EQ(bough->host, host);
  }
  EXPECT_EQ(find_bough(boughs, 64), nullptr);
}

}  // namespace
}  // namespace tutti::launch

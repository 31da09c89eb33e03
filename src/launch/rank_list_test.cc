#include "launch/rank_list.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace tutti::launch {
namespace {

std::string text(const std::vector<Rank>& ranks) { return ranks_text(ranks); }

TEST(RankList, IsCompressed) {
  EXPECT_EQ(text({}), "");
  EXPECT_EQ(text({3}), "rank 3");
  EXPECT_EQ(text({3, 4}), "ranks 3 and 4");
  EXPECT_EQ(text({0, 1, 2, 4, 5, 6, 7}), "ranks 0-2 and 4-7");
  EXPECT_EQ(text({0, 2, 3, 5, 6, 7}), "ranks 0, 2, 3 and 5-7");
}

TEST(RankList, IsBounded) {
  std::vector<Rank> even;
  for (Rank rank = 0; rank < 256; rank += 2) even.push_back(rank);
  EXPECT_EQ(text(even), "ranks 0, 2, 4, 6, 8, 10, 12, 14 and 120 more");
  std::vector<Rank> all(100'000);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(text(all), "ranks 0-99999");
}

}  // namespace
}  // namespace tutti::launch

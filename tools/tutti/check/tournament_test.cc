#include "tools/tutti/check/tournament.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace tutti::tool::check {
namespace {

TEST(Tournament, HasEveryTwoPlayersMeetOnceAndNobodyTwiceInARound) {
  for (Rank players = 2; players <= 65; ++players) {
    std::set<std::pair<Rank, Rank>> met;
    for (Rank round = 0; round < round_count(players); ++round) {
      for (Rank player = 0; player < players; ++player) {
        const Rank partner = partner_of(player, round, players);
        if (partner == kRests) continue;
        ASSERT_NE(partner, player);
        ASSERT_EQ(partner_of(partner, round, players), player) << players << " players, round " << round;
        if (player < partner) {
          ASSERT_TRUE(met.emplace(player, partner).second) << "they have met before";
        }
      }
    }
    EXPECT_EQ(met.size(), static_cast<std::size_t>(players) * static_cast<std::size_t>(players - 1) / 2);
  }
}

TEST(Tournament, TakesAsFewRoundsAsPossible) {
  EXPECT_EQ(round_count(0), 0);
  EXPECT_EQ(round_count(1), 0);
  EXPECT_EQ(round_count(2), 1);
  EXPECT_EQ(round_count(5), 5);
  EXPECT_EQ(round_count(64), 63);
}

TEST(Tournament, LetsASinglePlayerRest) { EXPECT_EQ(partner_of(0, 0, 1), kRests); }

}  // namespace
}  // namespace tutti::tool::check

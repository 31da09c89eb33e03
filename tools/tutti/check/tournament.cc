#include "tools/tutti/check/tournament.h"

namespace tutti::tool::check {

Rank round_count(Rank players) { return players < 2 ? 0 : players - 1 + players % 2; }

// The method of the circle: with one seat more than rounds, the players of a round whose numbers add up to twice the
// round's, modulo the number of rounds, meet. The one who would meet himself meets the last seat, which stays empty
// where the number of players is odd.
Rank partner_of(Rank player, Rank round, Rank players) {
  const Rank rounds = round_count(players);
  if (rounds == 0) return kRests;
  const Rank last = rounds;
  if (player == last) return round;
  const Rank partner = ((2 * round - player) % rounds + rounds) % rounds;
  const Rank met = partner == player ? last : partner;
  return met < players ? met : kRests;
}

}  // namespace tutti::tool::check

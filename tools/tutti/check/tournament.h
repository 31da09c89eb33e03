// Who measures with whom and when, so that every two hosts meet once and nobody is in two pairs at a time. Pure.
#pragma once

#include "tutti/types.h"

namespace tutti::tool::check {

inline constexpr Rank kRests = -1;

// n - 1 for an even number of players; one more for an odd one, in which each of them rests once.
Rank round_count(Rank players);
// The partner of a player in a round; kRests: nobody.
Rank partner_of(Rank player, Rank round, Rank players);

}  // namespace tutti::tool::check

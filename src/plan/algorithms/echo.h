// Echo: like staged, but a sum goes back to where the contributions came from. A place in memory then goes to the rank
// that adds up and back, instead of one place going there and another coming back: half as many lines change hands.
#pragma once

#include "plan/algorithms/place.h"

namespace tutti::plan::echo {

void all_reduce(Lane& lane, const View& v);  // n blocks: each rank adds up its own for all

}  // namespace tutti::plan::echo

// Bruck: what a rank holds doubles every round, for any number of ranks. Fewest hops; all_to_all moves data more than
// once in exchange, so it is for small blocks.
#pragma once

#include "plan/algorithms/setting.h"

namespace tutti::plan::bruck {

void all_gather(Lane& lane, const View& v);
void all_to_all(Lane& lane, const View& v);
void barrier(Lane& lane, const View& v);

}  // namespace tutti::plan::bruck

// Ring: every rank passes blocks to the next one. Moves the least data possible; n - 1 hops a phase.
#pragma once

#include "plan/algorithms/setting.h"

namespace tutti::plan::ring {

void all_reduce(Lane& lane, const View& v);      // n blocks
void reduce_scatter(Lane& lane, const View& v);  // block i ends with member i
void all_gather(Lane& lane, const View& v);      // block i begins with member i

}  // namespace tutti::plan::ring

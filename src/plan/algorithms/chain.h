// Chain: the ranks in a row, data flows from one end to the other tile by tile. Best for large rooted collectives.
#pragma once

#include "plan/algorithms/setting.h"

namespace tutti::plan::chain {

void broadcast(Lane& lane, const View& v);
void reduce(Lane& lane, const View& v);

}  // namespace tutti::plan::chain

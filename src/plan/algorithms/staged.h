// Staged: ranks publish their blocks in stages, each adds up one block and publishes the sum. Two rounds; every rank
// loads the least data, for large sums between processes whose buffers are private.
#pragma once

#include "plan/algorithms/setting.h"

namespace tutti::plan::staged {

void all_reduce(Lane& lane, const View& v);  // n blocks: each rank adds up its own for all
void reduce(Lane& lane, const View& v);      // n blocks

}  // namespace tutti::plan::staged

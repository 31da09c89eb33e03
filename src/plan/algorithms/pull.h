// Pull: ranks load from each other's buffers and store only to their own, as processes can that may read but not write
// the memory of others. Broadcast, scatter, reduce_scatter and send_receive are those of direct, which only load.
#pragma once

#include "plan/algorithms/setting.h"

namespace tutti::plan::pull {

void all_reduce(Lane& lane, const View& v);  // n blocks: each rank adds up its own, the others load the sum
void all_gather(Lane& lane, const View& v);
void reduce(Lane& lane, const View& v);  // n blocks; the root loads the sums from the stages of the others
void gather(Lane& lane, const View& v);
void all_to_all(Lane& lane, const View& v);

}  // namespace tutti::plan::pull

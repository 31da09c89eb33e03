// Recursive halving and doubling: partners exchange halves at doubling distances. Few hops, the least data, any number
// of ranks: those beyond a power of two fold into a neighbour first.
#pragma once

#include "plan/algorithms/setting.h"

namespace tutti::plan::halving {

std::uint32_t participants(Rank n);  // the largest power of two that is not above n

void all_reduce(Lane& lane, const View& v);  // participants(n) blocks
void reduce_scatter(Lane& lane, const View& v);
void all_gather(Lane& lane, const View& v);

}  // namespace tutti::plan::halving

// Pairwise: every two ranks that have something for each other exchange it directly, in rounds in which all are busy.
#pragma once

#include "plan/algorithms/setting.h"

namespace tutti::plan::pairwise {

void all_reduce(Lane& lane, const View& v);  // one block: everybody gets every input; one hop, for small data
void all_to_all(Lane& lane, const View& v);
void all_to_all_at_once(Lane& lane, const View& v);  // nobody waits for a round: one hop, and every link is busy
void all_gather(Lane& lane, const View& v);
void reduce_scatter(Lane& lane, const View& v);
void gather(Lane& lane, const View& v);
void scatter(Lane& lane, const View& v);
void send_receive(Lane& lane, const View& v, Rank from, Rank to);

}  // namespace tutti::plan::pairwise

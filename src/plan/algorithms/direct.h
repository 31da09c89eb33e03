// Direct: ranks that reach each other's memory do the work where the data lies; only tokens travel. Every byte is read
// once and written once.
#pragma once

#include "plan/algorithms/setting.h"

namespace tutti::plan::direct {

void all_reduce(Lane& lane, const View& v);  // n blocks: each rank adds up its own for all
void all_gather(Lane& lane, const View& v);
void reduce_scatter(Lane& lane, const View& v);
void broadcast(Lane& lane, const View& v);
void reduce(Lane& lane, const View& v);  // n blocks
void gather(Lane& lane, const View& v);
void scatter(Lane& lane, const View& v);
void all_to_all(Lane& lane, const View& v);
void barrier(Lane& lane, const View& v);
void send_receive(Lane& lane, const View& v, Rank from, Rank to);

}  // namespace tutti::plan::direct

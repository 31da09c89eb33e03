// Publish: every rank copies what others need of it to its stage and tells them; they load it from there. One round,
// for small data between processes whose buffers are private.
#pragma once

#include "plan/algorithms/setting.h"

namespace tutti::plan::publish {

void all_reduce(Lane& lane, const View& v);  // one block: each rank adds up all inputs
void all_gather(Lane& lane, const View& v);
void reduce_scatter(Lane& lane, const View& v);
void broadcast(Lane& lane, const View& v);
void reduce(Lane& lane, const View& v);  // one block
void gather(Lane& lane, const View& v);
void scatter(Lane& lane, const View& v);
void all_to_all(Lane& lane, const View& v);
void send_receive(Lane& lane, const View& v, Rank from, Rank to);

}  // namespace tutti::plan::publish

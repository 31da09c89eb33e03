// Halves: what one rank has for another is carried by both, one half each, so that both of their cores copy.
#pragma once

#include "plan/algorithms/setting.h"

namespace tutti::plan::halves {

void broadcast(Lane& lane, const View& v);  // two members, two blocks
void send_receive(Lane& lane, const View& v, Rank from, Rank to);

}  // namespace tutti::plan::halves

// Halves: what one rank has for another is carried by both, one half each, so that both of their cores copy.
#pragma once

#include "plan/algorithms/setting.h"

namespace tutti::plan::halves {

// Two members, two blocks. Messages have no such plan: whoever sends one mostly receives another at the same time.
void broadcast(Lane& lane, const View& v);

}  // namespace tutti::plan::halves

// Star: the root exchanges with every other rank itself. One hop; the link of the root carries everything.
#pragma once

#include "plan/algorithms/setting.h"

namespace tutti::plan::star {

void broadcast(Lane& lane, const View& v);  // one block
void reduce(Lane& lane, const View& v);

}  // namespace tutti::plan::star

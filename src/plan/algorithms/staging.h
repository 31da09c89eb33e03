// What the algorithms that go through stages share: a rank publishes its blocks for the others, and loads those that
// the others have published for it.
#pragma once

#include "plan/algorithms/setting.h"

namespace tutti::plan {

// Copies the blocks of the other members, a block each, from this rank's input to its stage.
void publish_for_others(Lane& lane, const View& v);

// Adds up what every member has for this block, in the order of members: this rank's input, and the stages of the
// others.
StepWriter& load_published(StepWriter& step, const View& v, Rank block);

}  // namespace tutti::plan

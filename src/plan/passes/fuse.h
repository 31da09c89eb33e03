// Joins neighbouring steps that one step can do, so that algorithms may be written in the simplest way.
#pragma once

#include "tutti/plan.h"

namespace tutti::plan {

// Waits join the step that follows, signals the step before, and a copy of what was just stored joins the step that
// stored it. The value of every step stays the same to the bit. A joined step waits for all it needs at once, so the
// slots a plan needs may grow: the checker knows.
Program fuse(const Program& program);

}  // namespace tutti::plan

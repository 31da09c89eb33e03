// Steps of a lane without the copies that only keep an input for later: plans make them because an operation may scale
// what it loads; where it does not, the input itself is as good.
#pragma once

#include <vector>

#include "engine/host/prepared.h"

namespace tutti::engine {

// What a step loads and stores.
struct StepSlices {
  std::vector<plan::Slice> sources;
  std::vector<plan::Slice> targets;
};

// Of every step of the lane, as the plan has them.
std::vector<StepSlices> slices_of(const plan::Lane& lane);

// Takes out copies of this rank's own input whose target is stored to again, or is scratch, and lets their readers load
// the input. For operations that do not scale inputs. Right in place too.
void forward_inputs(const Prepared& prepared, Rank self, const plan::Lane& lane, std::vector<StepSlices>& steps);

}  // namespace tutti::engine

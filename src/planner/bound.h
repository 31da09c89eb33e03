// A time that no execution of a candidate can beat, from the program of one rank alone: cheap, so that the planner
// simulates only what may still win.
#pragma once

#include "tutti/planner.h"

namespace tutti::planner {

struct Bound {
  double seconds = 0;
  double steps = 0;  // of all ranks and tiles, about: what simulating it costs
};

Result<Bound> lower_bound(const plan::Model& model, const Candidate& candidate, const Request& request);

}  // namespace tutti::planner

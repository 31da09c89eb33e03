// What runs on every host of `tutti check -H`: looks at its host, measures with every other, prints what it finds.
#pragma once

#include <chrono>

#include "tools/tutti/check/pair_measurement.h"

namespace tutti::tool::check {

struct RankOptions {
  PairEffort effort = {};
  std::chrono::seconds limit{120};  // for all rounds
};

// The exit code: 0 whatever it finds, since a rank that fails ends the others before they have told everything. For the
// same reason a child does the work: whatever becomes of it, its parent ends well.
int run_rank(const RankOptions& options);

// A smaller effort a pair the more hosts there are, so that a check takes about a minute at most.
PairEffort effort_for(int host_count);
std::chrono::milliseconds time_for(int host_count);

}  // namespace tutti::tool::check

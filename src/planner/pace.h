// How fast a plan goes on a cluster, by one walk over its steps: what a tile takes from end to end, and how often one
// can follow the other.
#pragma once

#include "planner/hosts.h"

namespace tutti::planner {

struct Pace {
  double path_s = 0;  // of one tile in one lane, until the last rank has it
  double lane_s = 0;  // longest that a lane is at one tile: the next one of the lane comes after it
  double busy_s = 0;  // of what is needed longest for a tile: a host's link, or its cores, or a rank
  double work_s = 0;  // of the rank that has most to do for a tile
};

// `chunk_bytes`: of each chunk in this tile. The plan has one lane (or a pair, as trees do).
Pace pace_of(const Cluster& cluster, const plan::Plan& plan, const std::vector<double>& chunk_bytes);

}  // namespace tutti::planner

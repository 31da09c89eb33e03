// Leaders: one rank speaks for its host, and all blocks of a host go to another in one message. For small data.
#pragma once

#include "plan/algorithms/setting.h"

namespace tutti::plan::hierarchical_leader {

// Through stages whatever the reach, so both forms of these plans are one. The setting has one rail.
void all_gather(const Setting& setting, Rank me, Program& program);
void reduce_scatter(const Setting& setting, Rank me, Program& program);

}  // namespace tutti::plan::hierarchical_leader

// Hierarchical without reach: the ranks of a host exchange messages, pairwise, before and after the hosts talk.
#pragma once

#include "plan/algorithms/hierarchical.h"

namespace tutti::plan::hierarchical_pipes {

using hierarchical::Outer;

void all_reduce(const Setting& setting, Rank me, Program& program, Outer outer);  // rails * outer_blocks blocks
void broadcast(const Setting& setting, Rank me, Program& program, Outer outer);   // one block
void reduce(const Setting& setting, Rank me, Program& program, Outer outer);
void all_gather(const Setting& setting, Rank me, Program& program);
void reduce_scatter(const Setting& setting, Rank me, Program& program);

}  // namespace tutti::plan::hierarchical_pipes

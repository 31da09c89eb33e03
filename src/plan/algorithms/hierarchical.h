// Hierarchical: inside a host ranks work together, and one rank per rail speaks for its host to the other hosts.
// Hosts may have different numbers of ranks.
#pragma once

#include "plan/algorithms/setting.h"

namespace tutti::plan::hierarchical {

enum class Outer : std::uint8_t { ring, halving, tree, pairwise };  // between the hosts

std::uint32_t outer_blocks(Outer outer, std::uint32_t host_count);

// Two forms. With reach full the rank of a rail adds up its host's inputs where they lie while it talks to the other
// hosts, and stores results straight into all outputs of its host. With less, inputs are published to stages before,
// and results are fetched from stages after. What hosts say to each other is the same in both, message by message, and
// so are the sums: every host chooses its form by itself.
void all_reduce(const Setting& setting, Rank me, Program& program, Outer outer);  // rails * outer_blocks blocks
void broadcast(const Setting& setting, Rank me, Program& program, Outer outer);   // one block per rail; ring: a chain
void reduce(const Setting& setting, Rank me, Program& program, Outer outer);
void all_gather(const Setting& setting, Rank me, Program& program);
void reduce_scatter(const Setting& setting, Rank me, Program& program);
void barrier(const Setting& setting, Rank me, Program& program);

}  // namespace tutti::plan::hierarchical

// Rings through the devices of a machine that keep more of its links busy than the order of ranks does.
#pragma once

#include <vector>

#include "tutti/topology.h"

namespace tutti::planner {

// On one host: rings over direct cables between devices, as many at once as the cables carry, each in both directions;
// empty where a switch makes every order equal. On several: one ring per network card, each crossing there.
std::vector<std::vector<Rank>> ring_orders(const topology::Topology& topology);

}  // namespace tutti::planner

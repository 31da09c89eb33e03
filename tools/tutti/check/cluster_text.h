// A checked cluster as text for a person. Pure.
#pragma once

#include <string>

#include "tools/tutti/check/cluster.h"
#include "tools/tutti/check/heat_map.h"
#include "tools/tutti/check/judgement.h"

namespace tutti::tool::check {

// What all hosts have in common, a table of what they differ in, the heat maps, what would help, and at the end what is
// wrong, or that nothing is.
std::string text_of(const Cluster& cluster, const Tolerance& tolerance, const HeatMapStyle& style);

}  // namespace tutti::tool::check

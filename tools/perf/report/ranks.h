// Which ranks were slow, for the page: a heat map of sizes and ranks, and a table of who was last how often.
#pragma once

#include <string>

#include "tools/perf/results.h"

namespace tutti::perf {

// Empty where no row knows its stragglers.
std::string html_heat_map(const Run& run);
std::string html_straggler_table(const Run& run);

}  // namespace tutti::perf

// In what two runs differ besides their times, and whether that makes them incomparable.
#pragma once

#include <string>
#include <vector>

#include "tools/perf/results.h"
#include "tutti/status.h"

namespace tutti::perf {

// Fails if the collectives or the numbers of ranks are known and differ: such times say nothing about one another.
Status check_comparable(const Run& now, const Run& baseline);

// Sentences on what else differs and may be the cause of other times.
std::vector<std::string> differences_of(const Run& now, const Run& baseline);

// "all_reduce_perf, 8 ranks, Tutti 0.1.0, 2024-05-01T12:00:00Z"; leaves out what is not known.
std::string description_of(const Run& run);

}  // namespace tutti::perf

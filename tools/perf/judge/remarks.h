// What people should read about a run that needs no topology and no other run to be seen.
#pragma once

#include <string>
#include <vector>

#include "tools/perf/results.h"

namespace tutti::perf {

// Beyond this a measurement and the library's own estimate disagree.
inline constexpr double kEstimateFactorMax = 2;

// Sentences, the most important first: wrong data; measurements that disagree with the library's own estimate by more
// than 2 times; ranks that were the slowest more often than chance explains.
std::vector<std::string> remarks_of(const Run& run);

}  // namespace tutti::perf

// Are the results right? Every byte of every buffer is compared with what it should be.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/perf/job.h"
#include "tools/perf/pattern.h"

namespace tutti::perf {

struct CheckResult {
  std::int64_t wrong = 0;              // elements of results, of this thread's ranks
  std::int64_t out_of_bounds = 0;      // bytes beyond the ends of buffers, and inputs that were changed
  std::vector<std::string> sentences;  // what was found, at most one for each buffer
};

// Writes inputs and poison, runs the call once and compares all of it. The seed is the same on all ranks.
Result<CheckResult> check_once(const Job& job, const Case& test, const Pattern& pattern,
                               std::span<const Station> stations, int thread, std::uint64_t seed);

}  // namespace tutti::perf

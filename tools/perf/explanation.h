// What the library itself says about a call: how it would run it, and what that should take.
#pragma once

#include <optional>
#include <string>

#include "tools/perf/job.h"

namespace tutti::perf {

struct Explanation {
  std::optional<std::string> plan;  // nullopt: the library does not say
  std::optional<double> estimate_us;
};
// Nothing runs.
Result<Explanation> explain_calls(const Job& job, const Case& test, std::span<const Station> stations);

// Whether calls go to Tutti's library.
bool is_tutti_library();
// "Tutti 0.1.0", or "NCCL 2.28.9" where another library was loaded.
std::string library_name(int version);

}  // namespace tutti::perf

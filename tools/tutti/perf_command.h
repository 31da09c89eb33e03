// `tutti perf NAME ...` is the tool NAME_perf: its command line is its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tutti::tool {

// Becomes the tool where the line names one; returns only where it does not (nullopt) or the tool cannot be run (the
// exit code).
std::optional<int> try_perf_tool(const std::vector<std::string>& arguments);

}  // namespace tutti::tool

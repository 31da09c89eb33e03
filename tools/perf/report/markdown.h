// A run as Markdown, for issues, pull requests and wikis.
#pragma once

#include <string>

#include "tools/perf/results.h"

namespace tutti::perf {

// The command, a table (GitHub's flavour), the verdicts and the remarks.
std::string markdown_report(const Run& run);

}  // namespace tutti::perf

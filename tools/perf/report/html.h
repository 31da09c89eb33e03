// A run as one page for a browser, with everything in it: it loads nothing from anywhere.
#pragma once

#include <string>

#include "tools/perf/report/curves.h"
#include "tools/perf/results.h"

namespace tutti::perf {

// Curves of the others (label, run) lie over those of the run: earlier runs, or another library.
std::string html_report(const Run& run, const LabelledRuns& others);

}  // namespace tutti::perf

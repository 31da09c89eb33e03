// A run as comma-separated values (RFC 4180), for spreadsheets and scripts.
#pragma once

#include <string>

#include "tools/perf/results.h"

namespace tutti::perf {

// A line of names, then one line per row and place. Empty: not measured, not checked or no number.
std::string csv_report(const Run& run);

}  // namespace tutti::perf

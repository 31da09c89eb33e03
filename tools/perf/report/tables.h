// The tables of the page: all rows with all columns, the machine, and the runs that this one is laid over.
#pragma once

#include <string>

#include "tools/perf/report/curves.h"
#include "tools/perf/results.h"

namespace tutti::perf {

std::string html_result_table(const Run& run);
std::string html_machine(const Setup& setup);
std::string html_seats(const Setup& setup);
std::string html_other_runs(const Run& run, const LabelledRuns& others);  // empty where there are none

}  // namespace tutti::perf

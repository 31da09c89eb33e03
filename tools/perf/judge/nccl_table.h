// Reads what nccl-tests print, of old and new versions, out of logs: a run of a peer as a value.
#pragma once

#include <string_view>
#include <vector>

#include "tools/perf/results.h"
#include "tutti/status.h"

namespace tutti::perf {

// Every run in a log, in its order; at least one. Lines of others between them are skipped, and so are the marks that
// mpirun and srun put before lines. What the log does not say stays empty: without lines of ranks there are no seats
// and `processes` is 0; the old column "error" holds roundings, not wrong elements, so `wrong` stays unknown. Lines
// that look like rows but cannot be read are named in the remarks.
Result<std::vector<Run>> parse_tables(std::string_view text);

// The only run of a log; several are an error that names their lines.
Result<Run> parse_table(std::string_view text);

}  // namespace tutti::perf

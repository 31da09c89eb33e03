// A file of hosts, in Open MPI's form ("host slots=4 max_slots=8") or MPICH's ("host:4"). Pure.
#pragma once

#include <string_view>
#include <vector>

#include "launch/job.h"
#include "tutti/status.h"

namespace tutti::launch {

// One host a line, or several in Slurm's form; "#" begins a comment. In the order of the lines; the slots of a host
// that is named several times are added up. Hosts without a number have `standard_slots`. Failures name the line.
Result<std::vector<Host>> parse_host_file(std::string_view text, int standard_slots = 1);

}  // namespace tutti::launch

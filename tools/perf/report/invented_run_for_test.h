// Runs that nobody measured, for tests of what is made of runs.
#pragma once

#include "tools/perf/results.h"

namespace tutti::perf {

// 8 ranks on two hosts, 24 sizes from 8 B to 64 MiB, every field in use; rank 5 is late, 4 MiB is slow.
Run invented_run();

// The same with all times multiplied, as another library or an earlier run might have them.
Run invented_run(double slowdown);

}  // namespace tutti::perf

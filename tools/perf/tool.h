// A perf tool from its start to its exit code: puts the processes, the threads and the table together.
#pragma once

#include <string>
#include <vector>

#include "tools/perf/collective.h"
#include "tools/perf/options.h"

namespace tutti::perf {

struct Invocation {
  std::string program = {};               // "all_reduce_perf"
  std::vector<std::string> command = {};  // all words, the program's too
  const Collective* collective = nullptr;
  Options options = {};
};

// Returns the exit code; what has failed stands on standard error by then.
int run_tool(Invocation invocation);

}  // namespace tutti::perf

// Where a job runs: the hosts that the user has named or Slurm has given, and how they are reached.
#pragma once

#include <vector>

#include "launch/layout.h"
#include "launch/settings.h"
#include "tools/tutti/run_options.h"
#include "tools/tutti/run_settings.h"

namespace tutti::tool {

struct Hosts {
  launch::Starter starter = launch::Starter::local;
  launch::Layout layout = {};
  std::vector<launch::Host> all = {};  // those without ranks too
};
Result<Hosts> hosts_of(const RunOptions& options, const Surroundings& surroundings);

}  // namespace tutti::tool

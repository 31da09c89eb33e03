// Where a job runs: the hosts that the user has named or Slurm has given, and how they are reached.
#pragma once

#include <string>

#include "launch/layout.h"
#include "launch/settings.h"
#include "tools/tutti/run_options.h"
#include "tools/tutti/run_settings.h"

namespace tutti::tool {

struct Hosts {
  launch::Starter starter = launch::Starter::local;
  launch::Layout layout = {};
};
Result<Hosts> hosts_of(const RunOptions& options, const Surroundings& surroundings);

// The text of a file that the user has named; at most 16 MiB.
Result<std::string> read_text(const std::string& path);

}  // namespace tutti::tool

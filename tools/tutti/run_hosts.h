// Where a job runs: the hosts that the user has named or Slurm has given, and how they are reached.
#pragma once

#include <string_view>
#include <vector>

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

// Whether a name means this machine, by the name alone.
bool is_this_host(std::string_view name, std::string_view own_name);

}  // namespace tutti::tool

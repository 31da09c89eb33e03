// The commands that start the agents of a job: what the launcher runs, and what a dry run shows. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launch/settings.h"
#include "launch/start/tree.h"

namespace tutti::launch {

// Who is started how, but for a step of Slurm, which starts all.
struct Ways {
  std::vector<HostIndex> here = {};
  std::vector<Bough> over_ssh = {};
};
Ways ways_of(const Settings& settings, std::string_view machine);

std::vector<std::string> local_command(const Settings& settings, HostIndex host, const std::string& program);
std::vector<std::string> ssh_command(const Settings& settings, HostIndex host);
std::vector<std::string> step_agent_command(const Settings& settings);  // that srun starts on every node

}  // namespace tutti::launch

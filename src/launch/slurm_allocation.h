// The nodes that Slurm has given to a job, and how many tasks each takes, by the variables of the job. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bootstrap/env/launch.h"
#include "launch/job.h"
#include "tutti/status.h"

namespace tutti::launch {

struct SlurmAllocation {
  std::string job;          // SLURM_JOB_ID
  std::vector<Host> hosts;  // in Slurm's order
  Rank tasks = 0;           // SLURM_NTASKS; 0: the user has not asked for a number
  bool operator==(const SlurmAllocation&) const = default;
};

// nullopt: this process is in no job of Slurm. Slots are SLURM_TASKS_PER_NODE, or SLURM_NTASKS_PER_NODE, or
// SLURM_JOB_CPUS_PER_NODE, the first that speaks of all nodes: inside a step the first may be of that step alone.
Result<std::optional<SlurmAllocation>> slurm_allocation_of(const bootstrap::Lookup& environment);

}  // namespace tutti::launch

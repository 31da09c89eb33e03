// The words of the one srun step that starts an agent on every host of a job inside an allocation of Slurm. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "launch/settings.h"

namespace tutti::launch {

std::vector<std::string> srun_words(const SlurmSettings& settings, std::span<const Host> hosts,
                                    std::span<const std::string> command);

// The environment of srun: without variables that would change what the step is, as SLURM_NTASKS of the allocation.
std::vector<std::string> srun_environment(const std::vector<std::string>& environment);

}  // namespace tutti::launch

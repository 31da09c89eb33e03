#include "launch/start/slurm_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "launch/start/ssh_words.h"

namespace tutti::launch {

namespace {

// What sbatch and salloc leave for srun, and what users set for their own steps: the agents' step has its own shape.
constexpr std::array<std::string_view, 24> kForOtherSteps = {"SLURM_NTASKS",
                                                             "SLURM_NPROCS",
                                                             "SLURM_NTASKS_PER_NODE",
                                                             "SLURM_TASKS_PER_NODE",
                                                             "SLURM_NNODES",
                                                             "SLURM_CPUS_PER_TASK",
                                                             "SRUN_CPUS_PER_TASK",
                                                             "SLURM_DISTRIBUTION",
                                                             "SLURM_CPU_BIND",
                                                             "SLURM_MPI_TYPE",
                                                             "SLURM_LABELIO",
                                                             "SLURM_STDINMODE",
                                                             "SLURM_STDOUTMODE",
                                                             "SLURM_STDERRMODE",
                                                             "SLURM_WAIT",
                                                             "SLURM_KILL_BAD_EXIT",
                                                             "SLURM_GPUS_PER_TASK",
                                                             "SLURM_GPU_BIND",
                                                             "SLURM_NTASKS_PER_SOCKET",
                                                             "SLURM_NTASKS_PER_CORE",
                                                             "SLURM_MEM_BIND",
                                                             "SLURM_HINT",
                                                             "SLURM_THREADS_PER_CORE",
                                                             "SLURM_STEP_ID"};

}  // namespace

std::vector<std::string> srun_words(const SlurmSettings& settings, std::span<const Host> hosts,
                                    std::span<const std::string> command) {
  std::vector<std::string> names;
  for (const Host& host : hosts) names.emplace_back(bare_name(host.name));
  std::vector<std::string> words{settings.program,
                                 fmt::format("--nodes={}", hosts.size()),
                                 fmt::format("--ntasks={}", hosts.size()),
                                 "--ntasks-per-node=1",
                                 fmt::format("--nodelist={}", fmt::join(names, ",")),
                                 "--overlap",             // ranks use what the allocation has, beside other steps
                                 "--mpi=none",            // the ranks are Tutti's, not Slurm's
                                 "--cpu-bind=none",       // agents bind their ranks themselves
                                 "--kill-on-bad-exit=0",  // the launcher decides what a lost host means
                                 "--wait=0",              // and how long the others go on
                                 "--input=all",           // each agent reads the same line
                                 "--unbuffered",
                                 "--job-name=tutti"};
  words.insert(words.end(), settings.options.begin(), settings.options.end());
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

std::vector<std::string> srun_environment(const std::vector<std::string>& environment) {
  std::vector<std::string> kept;
  for (const std::string& variable : environment) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    if (std::ranges::find(kForOtherSteps, name) == kForOtherSteps.end()) kept.push_back(variable);
  }
  return kept;
}

}  // namespace tutti::launch

// A step of a Slurm job: what srun says in SLURM_*.
#include <fmt/format.h>

#include <algorithm>

#include "bootstrap/env/claim.h"
#include "bootstrap/env/hostlist.h"

namespace tutti::bootstrap {
namespace {

// The first of the names that is set: older versions of Slurm have only the second.
Result<Rank> number_of(const Variables& variables, std::string_view name, std::string_view older) {
  TUTTI_ASSIGN(const auto number, variables.number(name));
  if (number) return *number;
  TUTTI_ASSIGN(const auto instead, variables.number(older));
  if (instead) return *instead;
  return invalid_argument(
      fmt::format("SLURM_STEP_ID={} says that srun has started this process, but {} is not set; "
                  "start it with srun, or take the former away with 'env -u SLURM_STEP_ID'",
                  variables.text("SLURM_STEP_ID").value_or(""), name));
}

Status set_local_place(const Variables& variables, Claim& claim) {
  auto list = variables.text("SLURM_STEP_TASKS_PER_NODE");
  if (!list) list = variables.text("SLURM_TASKS_PER_NODE");
  TUTTI_ASSIGN(const auto local, variables.number("SLURM_LOCALID"));
  TUTTI_ASSIGN(const auto host, variables.number("SLURM_NODEID"));
  if (!list || !local || !host) return {};
  const auto tasks = tasks_per_host_of(*list);
  if (!tasks) return tasks.status().while_doing("reading SLURM_STEP_TASKS_PER_NODE");
  claim.has_one_process_per_host = std::ranges::all_of(*tasks, [](Rank count) { return count == 1; });
  const auto index = static_cast<std::size_t>(*host);
  if (index >= tasks->size() || *local >= (*tasks)[index] || (*tasks)[index] > claim.launch.size) {
    return invalid_argument(
        fmt::format("SLURM_NODEID={} and SLURM_LOCALID={} do not fit {}: there is no such task; are some of them left "
                    "from another step?",
                    *host, *local, assignment_text("SLURM_STEP_TASKS_PER_NODE", *list)));
  }
  claim.launch.has_local_place = true;
  claim.launch.local_rank = *local;
  claim.launch.local_size = (*tasks)[index];
  return {};
}

Status set_meeting(const Variables& variables, std::string_view step, Claim& claim) {
  const auto job = variables.text("SLURM_JOB_ID");
  if (!job) return {};
  claim.launch.job = fmt::format("slurm-{}.{}", *job, step);
  claim.launch.has_pmix = variables.text("PMIX_NAMESPACE") == fmt::format("slurm.pmix.{}.{}", *job, step) &&
                          variables.text("PMIX_RANK") == std::to_string(claim.launch.rank);
  const auto list = variables.text("SLURM_STEP_NODELIST");
  if (!list) return {};
  const auto hosts = hosts_of(*list);
  if (!hosts) return hosts.status().while_doing("reading SLURM_STEP_NODELIST");
  claim.launch.address = meeting_address(hosts->front(), port_of(claim.launch.job));  // rank 0 runs on the first host
  return {};
}

}  // namespace

// The script of sbatch and the shell of salloc have SLURM_PROCID too, but are no ranks: they have no step.
Result<std::optional<Claim>> slurm_claim(const Variables& variables) {
  const auto step = variables.text("SLURM_STEP_ID");
  if (!step) return std::optional<Claim>();
  Claim claim;
  claim.launch.launcher = "srun";
  TUTTI_ASSIGN(claim.launch.rank, number_of(variables, "SLURM_PROCID", "SLURM_PROCID"));
  TUTTI_ASSIGN(claim.launch.size, number_of(variables, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"));
  if (claim.launch.rank >= claim.launch.size) {
    return invalid_argument(
        fmt::format("SLURM_PROCID={} and SLURM_STEP_NUM_TASKS={} make no sense together: ranks go "
                    "from 0 to one less than the size; are they left from another step?",
                    claim.launch.rank, claim.launch.size));
  }
  claim.evidence = fmt::format("SLURM_PROCID={} and SLURM_STEP_NUM_TASKS={}", claim.launch.rank, claim.launch.size);
  claim.names = {"SLURM_STEP_ID"};
  TUTTI_TRY(set_local_place(variables, claim));
  TUTTI_TRY(set_meeting(variables, *step, claim));
  return std::optional(std::move(claim));
}

}  // namespace tutti::bootstrap

#include "launch/slurm_allocation.h"

#include <fmt/format.h>

#include "bootstrap/env/hostlist.h"
#include "bootstrap/env/variables.h"
#include "launch/host_table.h"

namespace tutti::launch {
namespace {

using Reader = bootstrap::Variables;

// The numbers of a variable such as "2(x3),1"; nullopt: it is not set, or speaks of another number of nodes.
Result<std::optional<std::vector<Rank>>> numbers_of(const Reader& variables, std::string_view name,
                                                    std::size_t node_count) {
  const auto text = variables.text(name);
  if (!text) return std::optional<std::vector<Rank>>();
  auto numbers = bootstrap::tasks_per_host_of(*text);
  if (!numbers) return numbers.status().while_doing(fmt::format("reading {}", name));
  if (numbers->size() != node_count) return std::optional<std::vector<Rank>>();
  return std::optional(*std::move(numbers));
}

Result<std::vector<Rank>> slots_in(const Reader& variables, std::string_view list, std::size_t node_count) {
  TUTTI_ASSIGN(auto tasks, numbers_of(variables, "SLURM_TASKS_PER_NODE", node_count));
  if (tasks) return *std::move(tasks);
  TUTTI_ASSIGN(const auto each, variables.number("SLURM_NTASKS_PER_NODE"));
  if (each && *each > 0) return std::vector<Rank>(node_count, *each);
  TUTTI_ASSIGN(auto cores, numbers_of(variables, "SLURM_JOB_CPUS_PER_NODE", node_count));
  if (cores) return *std::move(cores);
  const auto stated = variables.text("SLURM_TASKS_PER_NODE");
  return invalid_argument(
      fmt::format("{} names {} nodes, but {}; name the hosts and their slots with -H instead",
                  bootstrap::assignment_text("SLURM_JOB_NODELIST", list), node_count,
                  stated ? bootstrap::assignment_text("SLURM_TASKS_PER_NODE", *stated) + " speaks of another number"
                         : "SLURM_TASKS_PER_NODE and SLURM_JOB_CPUS_PER_NODE are not set"));
}

}  // namespace

Result<std::optional<SlurmAllocation>> slurm_allocation_of(const bootstrap::Lookup& environment) {
  const Reader variables(environment);
  auto job = variables.text("SLURM_JOB_ID");
  if (!job) job = variables.text("SLURM_JOBID");
  if (!job) return std::optional<SlurmAllocation>();
  auto list = variables.text("SLURM_JOB_NODELIST");
  if (!list) list = variables.text("SLURM_NODELIST");
  if (!list) {
    return invalid_argument(fmt::format(
        "{} says that this is a job of Slurm, but SLURM_JOB_NODELIST is not set; name the hosts with -H, or take the "
        "former away with 'env -u SLURM_JOB_ID'",
        bootstrap::assignment_text("SLURM_JOB_ID", *job)));
  }
  const auto names = bootstrap::hosts_of(*list);
  if (!names) return names.status().while_doing("reading SLURM_JOB_NODELIST");
  TUTTI_ASSIGN(const auto slots, slots_in(variables, *list, names->size()));
  TUTTI_ASSIGN(const auto tasks, variables.number("SLURM_NTASKS"));
  HostTable table;
  for (std::size_t node = 0; node < names->size(); ++node) {
    if (const Status status = table.add((*names)[node], slots[node]); !status) {
      return status.while_doing("reading SLURM_JOB_NODELIST");
    }
  }
  return std::optional(
      SlurmAllocation{.job = *std::move(job), .hosts = std::move(table).take(), .tasks = tasks.value_or(0)});
}

}  // namespace tutti::launch

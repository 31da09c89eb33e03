#include "tools/tutti/run_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "launch/forwarding.h"
#include "launch/host_file.h"
#include "launch/host_list.h"
#include "launch/slurm_allocation.h"
#include "launch/world.h"
#include "tools/tutti/plan_options.h"

namespace tutti::tool {

namespace {

using launch::Host;
using launch::Starter;

// How many slots a host has that is named without a number.
int standard_slots(const RunOptions& options) {
  if (options.slots_per_host > 0) return options.slots_per_host;
  return std::max(1, options.ranks_per_host);
}

Result<std::vector<Host>> named_hosts(const RunOptions& options) {
  if (!options.hosts.empty() && !options.host_file.empty()) {
    return invalid_argument("-H and --hostfile both name hosts; leave one of them away");
  }
  if (!options.hosts.empty()) {
    auto hosts = launch::parse_host_list(options.hosts, standard_slots(options));
    return hosts ? hosts : Result<std::vector<Host>>(hosts.status().while_doing("-H"));
  }
  if (options.host_file.empty()) return std::vector<Host>();
  TUTTI_ASSIGN(const std::string text, read_text(options.host_file));
  auto hosts = launch::parse_host_file(text, standard_slots(options));
  if (!hosts) return hosts.status().while_doing(fmt::format("reading {}", options.host_file));
  return hosts;
}

Result<std::optional<launch::SlurmAllocation>> allocation_of(const RunOptions& options,
                                                             const Surroundings& surroundings) {
  if (options.launcher == "local" || options.launcher == "ssh") return std::optional<launch::SlurmAllocation>();
  return launch::slurm_allocation_of([&](std::string_view name) {
    const std::string* value = launch::find_variable(surroundings.environment, name);
    return value == nullptr ? std::nullopt : std::optional(*value);
  });
}

bool are_in(const std::vector<Host>& hosts, const std::vector<Host>& allocation) {
  return std::ranges::all_of(hosts, [&](const Host& host) {
    return std::ranges::find(allocation, host.name, &Host::name) != allocation.end();
  });
}

Result<Starter> starter_of(const RunOptions& options, const std::vector<Host>& hosts,
                           const std::optional<launch::SlurmAllocation>& allocation, std::string_view own_name) {
  const bool is_here =
      std::ranges::all_of(hosts, [&](const Host& host) { return launch::is_this_machine(host.name, own_name); });
  if (options.launcher == "ssh") return Starter::ssh;
  if (options.launcher == "local") {
    if (is_here) return Starter::local;
    const auto other =
        std::ranges::find_if(hosts, [&](const Host& host) { return !launch::is_this_machine(host.name, own_name); });
    return invalid_argument(
        fmt::format("--launcher local starts ranks on this host only, but {} is named; leave it "
                    "away, or use --launcher ssh",
                    other->name));
  }
  const bool is_allocated = allocation && are_in(hosts, allocation->hosts);
  if (options.launcher == "slurm") {
    if (!allocation) {
      return invalid_argument(
          "--launcher slurm needs an allocation of Slurm, and SLURM_JOB_ID is not set; get one "
          "with salloc or sbatch");
    }
    if (!is_allocated) {
      return invalid_argument(
          fmt::format("--launcher slurm reaches only the nodes of job {}, and some of the hosts "
                      "are none; name others, or use --launcher ssh",
                      allocation->job));
    }
    return Starter::slurm;
  }
  if (is_allocated && !is_here) return Starter::slurm;
  return is_here ? Starter::local : Starter::ssh;
}

std::vector<Host> default_hosts(const RunOptions& options, const std::optional<launch::SlurmAllocation>& allocation) {
  // A job of Slurm on one node is like any other machine, but has a number of tasks.
  if (allocation && allocation->hosts.size() > 1) return allocation->hosts;
  if (allocation && options.ranks == 0 && options.ranks_per_host == 0) return allocation->hosts;
  const int ranks = std::max({options.ranks, options.ranks_per_host, options.ranks_max, options.ranks_min});
  return {{.name = "localhost", .slots = std::max(1, ranks)}};
}

bool asks_for_ranks(const RunOptions& options) {
  return options.ranks > 0 || options.ranks_per_host > 0 || options.ranks_min > 0;
}

}  // namespace

Result<Hosts> hosts_of(const RunOptions& options, const Surroundings& surroundings) {
  TUTTI_ASSIGN(std::vector<Host> hosts, named_hosts(options));
  TUTTI_ASSIGN(const auto allocation, allocation_of(options, surroundings));
  const bool are_named = !hosts.empty();
  if (!are_named && !options.discovery_script.empty()) return Hosts{.starter = Starter::ssh};  // it will name them
  const bool has_nodes = allocation && allocation->hosts.size() > 1;
  if (!are_named && options.needs_hosts && !has_nodes) {
    return invalid_argument(
        fmt::format("--nnodes {} needs to know the hosts; name them with -H host1,host2, start it inside an allocation "
                    "of Slurm, or start one process on each with srun",
                    options.host_count));
  }
  if (!are_named && !asks_for_ranks(options) && !allocation) {
    return invalid_argument("say how many ranks to start with -np N, or where with -H host1:4,host2:4");
  }
  if (!are_named) hosts = default_hosts(options, allocation);
  TUTTI_ASSIGN(const Starter starter, starter_of(options, hosts, allocation, surroundings.host_name));
  launch::LayoutWish wish{.ranks = options.ranks,
                          .ranks_per_host = options.ranks_per_host,
                          .host_count = options.host_count,
                          .may_oversubscribe = options.may_oversubscribe};
  if (!are_named && !asks_for_ranks(options) && options.host_count == 0) wish.ranks = allocation->tasks;
  if (options.ranks == 0 && options.ranks_min > 0 && options.ranks_per_host == 0) {
    // An elastic job takes what is there, up to its most.
    std::int64_t slots = 0;
    for (const Host& host : hosts) slots += host.slots;
    const Rank most =
        options.ranks_max > 0 ? options.ranks_max : static_cast<Rank>(std::min<std::int64_t>(slots, 1'000'000));
    wish.ranks =
        static_cast<Rank>(std::clamp<std::int64_t>(slots, options.ranks_min, std::max(most, options.ranks_min)));
  }
  TUTTI_ASSIGN(launch::Layout layout, launch::lay_out(hosts, wish));
  return Hosts{.starter = starter, .layout = std::move(layout), .all = std::move(hosts)};
}

}  // namespace tutti::tool

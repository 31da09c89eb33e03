#include "launch/elastic/worker_order.h"

#include <fmt/format.h>

#include <algorithm>

#include "bootstrap/job_world.h"
#include "launch/variables.h"
#include "launch/world.h"
#include "os/machine.h"

namespace tutti::launch {
namespace {

Layout layout_of(const std::vector<WorldMember>& members) {
  Layout layout;
  std::map<std::string, HostIndex> places;
  for (const WorldMember& member : members) {
    const auto [place, is_new] = places.try_emplace(member.host, static_cast<HostIndex>(layout.hosts.size()));
    if (is_new) layout.hosts.push_back({.name = member.host, .slots = 0});
    Host& host = layout.hosts[place->second];
    layout.seats.push_back({.rank = layout.size(), .host = place->second, .local_rank = host.slots++});
  }
  return layout;
}

}  // namespace

Order order_of(const Settings& settings, const PlannedWorld& planned, const StartWorker& start, int host_slots) {
  const Layout layout = layout_of(planned.members);
  WorldFacts facts{.job = settings.job,
                   .store = planned.store,
                   .hosts = {},
                   .generation = start.generation,
                   .restart = 0,
                   .restarts_max = settings.restarts};
  const auto addresses = addresses_of(settings, layout, os::this_machine().host);
  for (HostIndex host = 0; host < layout.hosts.size(); ++host) {
    const auto told = planned.ports.find(layout.hosts[host].name);
    HostFacts fact{.address = addresses[host], .ports = {}};
    if (told != planned.ports.end()) fact.ports = told->second;
    // A host that has not answered yet, or has more slots than it had then, has told too few.
    fact.ports.resize(std::max(fact.ports.size(), static_cast<std::size_t>(layout.local_size(host)) + 1));
    facts.hosts.push_back(std::move(fact));
  }
  const auto found = std::ranges::find(planned.members, start.worker, &WorldMember::worker);
  const Seat& seat = layout.seats[static_cast<std::size_t>(found - planned.members.begin())];
  Variables variables = variables_of(layout, facts, seat, settings.environment);
  variables.emplace_back(bootstrap::kWorkerVariable, fmt::format("{}", start.worker));
  variables.emplace_back(bootstrap::kGenerationVariable, fmt::format("{}", start.generation));
  return {.command = settings.command,
          .folder = settings.folder,
          .environment = settings.environment,
          .inherits_environment = settings.inherits_environment,
          .local_size = std::max(host_slots, start.slot + 1),
          .bind = settings.bind,
          .devices_per_rank = settings.devices_per_rank,
          .input = InputPolicy::none,
          .ranks = {{.rank = start.worker, .local_rank = start.slot, .variables = std::move(variables)}}};
}

}  // namespace tutti::launch

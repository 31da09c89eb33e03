#include "comm/start.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/knobs.h"
#include "bootstrap/exchange.h"
#include "bootstrap/meeting_point.h"
#include "bootstrap/store.h"
#include "comm/measure.h"
#include "comm/room.h"
#include "comm/seating.h"
#include "comm/start_network.h"
#include "device/host/heap.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/log_sink.h"
#include "os/machine.h"
#include "transport/shm/mesh.h"

namespace tutti::comm {

namespace {

constexpr Rank kRanksMax = 1024;
constexpr std::string_view kNetworkStore = "tcp:";

Status validate_name(const std::string& algorithm) {
  const auto is_it = [&](const plan::Algorithm& known) { return known.name == algorithm; };
  if (std::ranges::any_of(plan::algorithms(), is_it)) return {};
  return invalid_argument(fmt::format("no algorithm is called '{}'; 'tutti plan list' names them", algorithm));
}

Status validate(const CommunicatorOptions& options) {
  if (options.size < 1 || options.size > kRanksMax) {
    return invalid_argument(
        fmt::format("a communicator of {} ranks is not possible; 1 to {} are", options.size, kRanksMax));
  }
  if (options.rank < 0 || options.rank >= options.size) {
    return invalid_argument(fmt::format("rank {} is not one of {} ranks", options.rank, options.size));
  }
  if (options.timeout.count() < 0 || options.start_timeout.count() < 0) {
    return invalid_argument("timeout and start_timeout cannot be less than nothing");
  }
  if (!options.algorithm.empty()) TUTTI_TRY(validate_name(options.algorithm));
  for (const AllowedAlgorithms& allowed : options.allowed) {
    for (const std::string& name : allowed.names) TUTTI_TRY(validate_name(name));
  }
  return {};
}

void say(std::string_view text) { fmt::print(stderr, "tutti: {}\n", text); }

struct Settings {
  CommunicatorOptions options;
  Knobs knobs;
};

// What the caller leaves open is as the environment says.
Result<Settings> complete(const CommunicatorOptions& given) {
  TUTTI_ASSIGN(const Knobs knobs, Knobs::read(os::environment_variable));
  TUTTI_TRY(os::install_log(knobs));
  CommunicatorOptions options = given;
  if (options.start_timeout.count() == 0) options.start_timeout = knobs.start_timeout();
  if (options.timeout.count() == 0) options.timeout = knobs.timeout();
  if (options.memory_limit == 0) options.memory_limit = knobs.memory_limit();
  return Settings{std::move(options), knobs};
}

struct Met {
  std::vector<std::shared_ptr<const transport::Process>> processes;
  std::vector<Introduction> introductions;
};

Result<Met> meet(const CommunicatorOptions& options, const Introduction& mine, Deadline deadline) {
  TUTTI_ASSIGN(transport::Mesh* const mesh, transport::Mesh::of_process());
  TUTTI_ASSIGN(const auto store, bootstrap::open_store(options.store, options.rank, deadline));
  const Bytes message = pack(mine, mesh->card());
  auto all = bootstrap::exchange(*store, "ranks", options.rank, options.size, message, deadline, say);
  const Status left = bootstrap::leave(*store, options.size);
  if (!all) return all.status();
  TUTTI_TRY(left);
  Met met;
  std::vector<Bytes> cards;
  for (std::size_t rank = 0; rank < all->size(); ++rank) {
    TUTTI_ASSIGN(Introduced introduced, parse_introduction((*all)[rank], static_cast<Rank>(rank)));
    met.introductions.push_back(introduced.introduction);
    cards.push_back(std::move(introduced.card));
  }
  TUTTI_ASSIGN(met.processes, mesh->connect(cards, deadline));
  return met;
}

transport::Member this_process(Rank rank) {
  return {.rank = rank,
          .pid = static_cast<int>(getpid()),
          .host = os::this_machine().host,
          .is_same_process = true,
          .is_alive = [] { return true; }};
}

}  // namespace

void forget_meeting(const Identifier& identifier) { bootstrap::close_meeting_point(identifier); }

Result<std::unique_ptr<Side>> start(const CommunicatorOptions& given, const NetworkRates& network,
                                    const Recall* recall) {
  TUTTI_TRY(validate(given));
  TUTTI_ASSIGN(const Settings settings, complete(given));
  const CommunicatorOptions& options = settings.options;
  if (options.size == 1) {
    TUTTI_ASSIGN(auto sides, start_local(1, options));
    if (options.store.starts_with(kNetworkStore)) {
      const auto identifier = Identifier::parse(std::string_view(options.store).substr(kNetworkStore.size()));
      if (identifier) forget_meeting(*identifier);
    }
    return std::move(sides[0]);
  }
  if (options.store.empty()) {
    return invalid_argument(fmt::format("{} ranks need a store to meet through, such as file:/path", options.size));
  }
  if (options.store.starts_with(kNetworkStore)) {
    TUTTI_ASSIGN(const Identifier identifier,
                 Identifier::parse(std::string_view(options.store).substr(kNetworkStore.size())));
    auto side = start_over_network(options, identifier, network, recall);
    if (!side) return side.status().while_doing(fmt::format("starting rank {} of {}", options.rank, options.size));
    return side;
  }
  const Deadline deadline = Deadline::after(os::now(), options.start_timeout);
  Membership membership{.rank = options.rank, .late_warning = settings.knobs.late_warning()};
  TUTTI_ASSIGN(const Introduction mine, introduce(options, membership));
  auto met = meet(options, mine, deadline);
  if (!met) return met.status().while_doing(fmt::format("starting rank {} of {}", options.rank, options.size));
  TUTTI_TRY(compare(met->introductions));
  for (Rank rank = 0; rank < options.size; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    const auto& process = met->processes[index];
    TUTTI_TRY(seat(membership, rank, process, met->introductions[index]));
  }
  const bool can_pull = can_pull_under(options.memory_limit) && can_all_pull(membership.peers);
  membership.machine = machine_of(met->introductions[0].rates, options.size, can_pull);
  return std::make_unique<Side>(std::move(membership), options);
}

Result<std::vector<std::unique_ptr<Side>>> start_local(Rank size, const CommunicatorOptions& options) {
  TUTTI_ASSIGN(const Settings settings, complete(options));
  CommunicatorOptions each = settings.options;
  each.size = size;
  each.rank = 0;
  TUTTI_TRY(validate(each));
  TUTTI_ASSIGN(const SideLayout layout, SideLayout::within(each.memory_limit, size));
  std::vector<std::shared_ptr<std::byte>> rooms;
  std::vector<std::byte*> memories;
  std::vector<transport::Member> members;
  for (Rank rank = 0; rank < size; ++rank) {
    TUTTI_ASSIGN(rooms.emplace_back(), make_private_room(layout.bytes()));
    memories.push_back(rooms.back().get());
    members.push_back(this_process(rank));
  }
  const LocalRates rates = size > 1 ? measure_rates() : LocalRates{};
  std::vector<std::unique_ptr<Side>> sides;
  for (Rank rank = 0; rank < size; ++rank) {
    each.rank = rank;
    Membership membership{.rank = rank,
                          .layout = layout,
                          .peers = members,
                          .memories = memories,
                          .machine = machine_of(rates, size, false),
                          .own = rooms[static_cast<std::size_t>(rank)],
                          .own_bytes = layout.bytes(),
                          .late_warning = settings.knobs.late_warning()};
    sides.push_back(std::make_unique<Side>(std::move(membership), each));
  }
  return sides;
}

}  // namespace tutti::comm

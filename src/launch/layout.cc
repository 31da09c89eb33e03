#include "launch/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tutti::launch {
namespace {

constexpr std::int64_t kRanksMax = 1'000'000;  // beyond any job, and little memory all the same

// How many ranks each of the first hosts has.
using Counts = std::vector<std::int64_t>;

std::string slots_text(std::int64_t slots) { return fmt::format("{} slot{}", slots, slots == 1 ? "" : "s"); }
std::string hosts_text(std::int64_t hosts) { return fmt::format("{} host{}", hosts, hosts == 1 ? "" : "s"); }
std::string ranks_text(std::int64_t ranks) { return fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s"); }

Status too_few_slots(std::int64_t wanted, std::int64_t slots, std::size_t hosts) {
  return invalid_argument(
      fmt::format("{} are wanted, but {} {} only {}; give more with -H host:slots, or allow more ranks than slots with "
                  "--oversubscribe",
                  ranks_text(wanted), hosts_text(static_cast<std::int64_t>(hosts)), hosts == 1 ? "has" : "have",
                  slots_text(slots)));
}

Status too_few_places(std::int64_t wanted, std::int64_t places) {
  return invalid_argument(
      fmt::format("{} are wanted, but the hosts take {} at most, by their max_slots; raise it, or give more hosts",
                  ranks_text(wanted), places));
}

// What a host takes beyond its slots.
std::int64_t places_of(const Host& host, bool may_oversubscribe) {
  if (!may_oversubscribe) return host.slots;
  return host.slots_max > 0 ? std::max(host.slots, host.slots_max) : kRanksMax;
}

std::int64_t sum_of(std::span<const Host> hosts, bool may_oversubscribe) {
  std::int64_t sum = 0;
  for (const Host& host : hosts) sum += places_of(host, may_oversubscribe);
  return sum;
}

// Gives what is left to the hosts in rounds, one rank each, as far as `limit_of` lets them.
template <class LimitOf>
void spread(std::int64_t& left, std::span<const Host> hosts, Counts& counts, const LimitOf& limit_of) {
  // A round lifts all hosts that still have room to the next level; whole rounds are taken at once.
  while (left > 0) {
    std::int64_t open = 0;
    std::int64_t next = std::numeric_limits<std::int64_t>::max();
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      const std::int64_t room = limit_of(hosts[host]) - counts[host];
      if (room <= 0) continue;
      ++open;
      next = std::min(next, room);
    }
    if (open == 0) return;
    const std::int64_t level = std::max<std::int64_t>(1, std::min(next, left / open));
    for (std::size_t host = 0; host < hosts.size() && left > 0; ++host) {
      if (limit_of(hosts[host]) - counts[host] <= 0) continue;
      counts[host] += level;
      left -= level;
    }
  }
}

// All slots of one host before the next; beyond the slots one rank each in turn.
Counts fill(std::int64_t ranks, std::span<const Host> hosts, bool may_oversubscribe) {
  Counts counts(hosts.size(), 0);
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    counts[host] = std::min<std::int64_t>(ranks, hosts[host].slots);
    ranks -= counts[host];
  }
  if (may_oversubscribe) {
    spread(ranks, hosts, counts, [](const Host& host) { return places_of(host, true); });
  }
  return counts;
}

Status check(std::span<const Host> hosts, const LayoutWish& wish) {
  if (hosts.empty()) return invalid_argument("there is no host to start ranks on; name some with -H host:slots");
  if (wish.ranks < 0 || wish.ranks_per_host < 0 || wish.host_count < 0 || wish.ranks > kRanksMax) {
    return invalid_argument(fmt::format("numbers of ranks go from 1 to {}", kRanksMax));
  }
  if (static_cast<std::size_t>(wish.host_count) > hosts.size()) {
    return invalid_argument(fmt::format("{} are wanted, but only {} given; name more with -H",
                                        hosts_text(wish.host_count),
                                        hosts.size() == 1 ? "1 is" : fmt::format("{} are", hosts.size())));
  }
  if (wish.host_count > 0 && wish.ranks > 0 && wish.ranks < wish.host_count) {
    return invalid_argument(fmt::format("{} cannot be on {}: every host needs one; lower --nnodes or raise -np",
                                        ranks_text(wish.ranks), hosts_text(wish.host_count)));
  }
  const std::int64_t product = std::int64_t{wish.ranks_per_host} * wish.host_count;
  if (product > kRanksMax || (wish.ranks > 0 && product > 0 && product != wish.ranks)) {
    return invalid_argument(
        fmt::format("{} on each of {} are {} ranks, but {} were asked for; leave one of the three "
                    "numbers away",
                    ranks_text(wish.ranks_per_host), hosts_text(wish.host_count), product,
                    wish.ranks > 0 ? std::to_string(wish.ranks) : "at most 1000000"));
  }
  return {};
}

// The same number on every host, but for the last one where the ranks are used up.
Result<Counts> counts_per_host(std::span<const Host> hosts, const LayoutWish& wish) {
  Counts counts;
  std::int64_t left = wish.ranks > 0 ? wish.ranks : kRanksMax;
  for (const Host& host : hosts) {
    if (left == 0) break;
    const std::int64_t count = std::min<std::int64_t>(left, wish.ranks_per_host);
    if (count > places_of(host, wish.may_oversubscribe)) {
      return invalid_argument(fmt::format(
          "{} on each host are wanted, but {} has only {}; write -H {}:{}, or allow "
          "more ranks than slots with --oversubscribe",
          ranks_text(count), host.name, slots_text(places_of(host, wish.may_oversubscribe)), host.name, count));
    }
    counts.push_back(count);
    left -= count;
  }
  if (wish.ranks > 0 && left > 0) {
    const auto places = static_cast<std::int64_t>(hosts.size()) * wish.ranks_per_host;
    return invalid_argument(fmt::format(
        "{} are wanted, but {} with {} each make only {}; give more hosts with -H, or "
        "more ranks on each",
        ranks_text(wish.ranks), hosts_text(static_cast<std::int64_t>(hosts.size())), wish.ranks_per_host, places));
  }
  return counts;
}

Result<Counts> counts_of(std::span<const Host> hosts, const LayoutWish& wish) {
  if (wish.host_count > 0) hosts = hosts.first(static_cast<std::size_t>(wish.host_count));
  if (wish.ranks_per_host > 0) return counts_per_host(hosts, wish);
  const std::int64_t slots = sum_of(hosts, false);
  const std::int64_t ranks = wish.ranks > 0 ? wish.ranks : slots;
  if (ranks > kRanksMax) {
    return invalid_argument(
        fmt::format("the hosts have {} slots, but a job has at most {} ranks; give -np", slots, kRanksMax));
  }
  if (ranks > slots && !wish.may_oversubscribe) return too_few_slots(ranks, slots, hosts.size());
  if (const auto places = sum_of(hosts, wish.may_oversubscribe); ranks > places) return too_few_places(ranks, places);
  if (wish.host_count == 0) return fill(ranks, hosts, wish.may_oversubscribe);
  // Every host has to have some, so they share.
  Counts counts(hosts.size(), 0);
  std::int64_t left = ranks;
  spread(left, hosts, counts, [](const Host& host) { return std::int64_t{host.slots}; });
  spread(left, hosts, counts, [](const Host& host) { return places_of(host, true); });
  return counts;
}

}  // namespace

Rank Layout::local_size(HostIndex host) const {
  return static_cast<Rank>(std::ranges::count(seats, host, &Seat::host));
}

Result<Layout> lay_out(std::span<const Host> hosts, const LayoutWish& wish) {
  TUTTI_TRY(check(hosts, wish));
  TUTTI_ASSIGN(const Counts counts, counts_of(hosts, wish));
  Layout layout;
  for (std::size_t host = 0; host < counts.size(); ++host) {
    if (counts[host] == 0) continue;
    const auto index = static_cast<HostIndex>(layout.hosts.size());
    layout.hosts.push_back(hosts[host]);
    for (std::int64_t local = 0; local < counts[host]; ++local) {
      layout.seats.push_back({.rank = layout.size(), .host = index, .local_rank = static_cast<Rank>(local)});
    }
  }
  return layout;
}

}  // namespace tutti::launch

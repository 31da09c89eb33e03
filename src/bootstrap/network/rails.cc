#include "bootstrap/network/rails.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "bootstrap/network/words.h"

namespace tutti::bootstrap {

namespace {

// A rail with a smaller part than this of the first one's speed is one more thing that can fail, for little.
constexpr double kSpeedPartMin = 0.1;

struct Ending {
  const OfferedInterface* interface = nullptr;
  os::InterfaceAddress address = {};
};

std::uint64_t bits_of_speed(const OfferedInterface& interface) {
  return std::uint64_t{interface.speed_megabits} * 1'000'000;
}

// Of the slower end, as far as known.
std::uint64_t speed_between(const OfferedInterface& here, const OfferedInterface& there) {
  const std::uint64_t a = bits_of_speed(here);
  const std::uint64_t b = bits_of_speed(there);
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

Rail rail_of(const Ending& here, const Ending& there) {
  Rail rail{.local_interface = here.interface->name,
            .remote_interface = there.interface->name,
            .local = here.address.address,
            .remote = there.address.address,
            .speed_bits = speed_between(*here.interface, *there.interface)};
  if (rail.local.family == os::AddressFamily::ipv6 && rail.local.is_link_local()) {
    rail.local.scope_id = here.interface->index;
    rail.remote.scope_id = here.interface->index;
  }
  return rail;
}

bool is_between_hosts(const os::IpAddress& address) { return !address.is_loopback() && !address.is_unspecified(); }

struct Network {
  os::IpAddress network = {};
  int prefix_bits = 0;
  auto operator<=>(const Network&) const = default;
};

using Endings = std::map<Network, std::vector<Ending>>;

// The interfaces of a host by network, in each the best first.
Endings endings_by_network(const Offer& offer) {
  Endings endings;
  for (const OfferedInterface& interface : offer.interfaces) {
    for (const os::InterfaceAddress& each : interface.addresses) {
      if (!is_between_hosts(each.address) || each.address.is_link_local()) continue;
      endings[{os::network_of(each.address, each.prefix_bits), each.prefix_bits}].push_back({&interface, each});
    }
  }
  for (auto& [network, some] : endings) {
    std::ranges::stable_sort(some, std::ranges::greater(),
                             [](const Ending& ending) { return ending.interface->speed_megabits; });
  }
  return endings;
}

struct SharedNetwork {
  Network network;
  std::span<const Ending> here;
  std::span<const Ending> there;
  std::uint64_t speed_bits() const { return speed_between(*here.front().interface, *there.front().interface); }
};

bool is_any_address_of(std::span<const Ending> endings, const os::IpAddress& address) {
  return std::ranges::any_of(endings, [&](const Ending& each) { return each.address.address == address; });
}

// The fastest first; then IPv4 before IPv6 and by number, so that both sides have one order.
std::vector<SharedNetwork> shared_networks(const Endings& here, const Endings& there) {
  std::vector<SharedNetwork> shared;
  for (const auto& [network, endings] : here) {
    const auto found = there.find(network);
    if (found == there.end()) continue;
    const auto is_of_both = [&](const Ending& each) { return is_any_address_of(found->second, each.address.address); };
    if (std::ranges::none_of(endings, is_of_both)) shared.push_back({network, endings, found->second});
  }
  std::ranges::stable_sort(shared, std::ranges::greater(), &SharedNetwork::speed_bits);
  return shared;
}

const Ending* find_free(std::span<const Ending> endings, std::span<const OfferedInterface* const> used) {
  const auto is_free = [used](const Ending& each) { return std::ranges::find(used, each.interface) == used.end(); };
  const auto found = std::ranges::find_if(endings, is_free);
  return found == endings.end() ? nullptr : &*found;
}

std::vector<Rail> rails_over_shared(const Offer& here, const Offer& there) {
  const Endings ours = endings_by_network(here);
  const Endings theirs = endings_by_network(there);
  std::vector<const OfferedInterface*> used;
  std::vector<Rail> rails;
  for (const SharedNetwork& network : shared_networks(ours, theirs)) {
    const Ending* const local = find_free(network.here, used);
    const Ending* const remote = find_free(network.there, used);
    if (local == nullptr || remote == nullptr) continue;
    used.insert(used.end(), {local->interface, remote->interface});
    rails.push_back(rail_of(*local, *remote));
  }
  std::ranges::stable_sort(rails, std::ranges::greater(), &Rail::speed_bits);
  return rails;
}

// Kinds of addresses of which one side's best is joined to the other's best, in the order in which they are tried.
enum class Kind : std::uint8_t { private_ipv4, global_ipv4, private_ipv6, global_ipv6, any_ipv4, any_ipv6, link_local };
constexpr std::array<Kind, 7> kKinds = {Kind::private_ipv4, Kind::global_ipv4, Kind::private_ipv6, Kind::global_ipv6,
                                        Kind::any_ipv4,     Kind::any_ipv6,    Kind::link_local};

bool is_of_kind(Kind kind, const os::IpAddress& address) {
  const bool is_ipv4 = address.family == os::AddressFamily::ipv4;
  if (address.is_link_local()) return kind == Kind::link_local && !is_ipv4;
  switch (kind) {
    case Kind::private_ipv4: return is_ipv4 && address.is_private();
    case Kind::global_ipv4: return is_ipv4 && !address.is_private();
    case Kind::private_ipv6: return !is_ipv4 && address.is_private();
    case Kind::global_ipv6: return !is_ipv4 && !address.is_private();
    case Kind::any_ipv4: return is_ipv4;
    case Kind::any_ipv6: return !is_ipv4;
    case Kind::link_local: return false;
  }
  return false;
}

std::optional<Ending> find_of_kind(const Offer& offer, Kind kind) {
  for (const OfferedInterface& interface : offer.interfaces) {
    for (const os::InterfaceAddress& each : interface.addresses) {
      if (is_between_hosts(each.address) && is_of_kind(kind, each.address)) return Ending{&interface, each};
    }
  }
  return std::nullopt;
}

std::optional<Rail> routed_rail(const Offer& here, const Offer& there) {
  for (const Kind kind : kKinds) {
    const auto local = find_of_kind(here, kind);
    const auto remote = find_of_kind(there, kind);
    if (local && remote && local->address.address != remote->address.address) return rail_of(*local, *remote);
  }
  return std::nullopt;
}

// An unknown speed counts as that of the slowest known one: measuring will tell.
void share_out(std::vector<Rail>& rails) {
  double slowest = 0;
  for (const Rail& rail : rails) {
    const auto speed = static_cast<double>(rail.speed_bits);
    if (speed > 0 && (slowest == 0 || speed < slowest)) slowest = speed;
  }
  const auto weight = [slowest](const Rail& rail) {
    if (rail.speed_bits != 0) return static_cast<double>(rail.speed_bits);
    return slowest == 0 ? 1.0 : slowest;
  };
  double total = 0;
  for (const Rail& rail : rails) total += weight(rail);
  for (Rail& rail : rails) rail.share = weight(rail) / total;
}

std::string rail_text(const Rail& rail) {
  return fmt::format("{} ({} to {}, {}, {:.0f} %)", rail.local_interface, text_of(rail.local), text_of(rail.remote),
                     speed_text(rail.speed_bits), rail.share * 100);
}

std::string sentence_of(const std::string& host, std::span<const Rail> rails, const std::vector<std::string>& reasons) {
  std::vector<std::string> parts;
  for (const Rail& rail : rails) parts.push_back(rail_text(rail));
  std::string text = fmt::format("to {} over {}", host, listed(parts));
  for (const std::string& reason : reasons) text += "; " + reason;
  return text;
}

// Removes what is not worth it or too much, and says so.
std::vector<std::string> prune(std::vector<Rail>& rails, int rails_max) {
  std::vector<std::string> reasons;
  const std::uint64_t fastest = rails.front().speed_bits;
  const auto is_slow = [fastest](const Rail& rail) {
    return rail.speed_bits != 0 && static_cast<double>(rail.speed_bits) < kSpeedPartMin * static_cast<double>(fastest);
  };
  std::vector<Rail> kept;
  for (Rail& rail : rails) {
    if (is_slow(rail)) {
      reasons.push_back(fmt::format("{} not used: {} beside {}", rail.local_interface, speed_text(rail.speed_bits),
                                    speed_text(fastest)));
    } else if (kept.size() >= static_cast<std::size_t>(std::max(1, rails_max))) {
      reasons.push_back(fmt::format("{} not used: TUTTI_RAILS_MAX is {}", rail.local_interface, rails_max));
    } else {
      kept.push_back(std::move(rail));
    }
  }
  rails = std::move(kept);
  return reasons;
}

// Those of this host that share no free network with the other one.
void explain_rest(const Offer& here, const Offer& there, std::span<const Rail> all, std::vector<std::string>& reasons) {
  const Endings theirs = endings_by_network(there);
  for (const OfferedInterface& interface : here.interfaces) {
    if (std::ranges::find(all, interface.name, &Rail::local_interface) != all.end()) continue;
    const auto is_shared = [&](const os::InterfaceAddress& each) {
      return theirs.contains({os::network_of(each.address, each.prefix_bits), each.prefix_bits});
    };
    const bool is_second = std::ranges::any_of(interface.addresses, is_shared);
    reasons.push_back(fmt::format("{} not used: {}", interface.name,
                                  is_second ? "its network has a rail already" : "no network in common"));
  }
}

std::optional<os::IpAddress> loopback_of_both(const Offer& here, const Offer& there) {
  if (here.has_loopback_ipv4 && there.has_loopback_ipv4) return os::parse_ip_address("127.0.0.1");
  if (here.has_loopback_ipv6 && there.has_loopback_ipv6) return os::parse_ip_address("::1");
  return std::nullopt;
}

std::optional<Rails> rails_in_one_place(const Offer& here, const Offer& there) {
  if (const auto loopback = loopback_of_both(here, there)) {
    const Rail rail{.local_interface = "lo", .remote_interface = "lo", .local = *loopback, .remote = *loopback};
    return Rails{{rail}, fmt::format("to {} over loopback ({}): it is this host", there.host, text_of(*loopback))};
  }
  for (const Kind kind : kKinds) {  // loopback is down: an own address leads here too
    const auto local = find_of_kind(here, kind);
    if (!local || !find_of_kind(there, kind)) continue;
    const Rail rail = rail_of(*local, *local);
    return Rails{{rail},
                 fmt::format("to {} over its own address {}: it is this host", there.host, text_of(rail.local))};
  }
  return std::nullopt;
}

std::string addresses_text(const Offer& offer) {
  std::vector<std::string> parts;
  for (const OfferedInterface& interface : offer.interfaces) {
    for (const os::InterfaceAddress& each : interface.addresses)
      parts.push_back(fmt::format("{} {}/{}", interface.name, text_of(each.address), each.prefix_bits));
  }
  return fmt::format("{} ({})", offer.host, parts.empty() ? "no address" : listed(parts));
}

}  // namespace

Result<Rails> rails_between(const Offer& here, const Offer& there, int rails_max) {
  if (is_same_place(here, there)) {
    if (auto rails = rails_in_one_place(here, there)) return *std::move(rails);
  }
  std::vector<Rail> rails = rails_over_shared(here, there);
  if (!rails.empty()) {
    const std::vector<Rail> all = rails;
    std::vector<std::string> reasons = prune(rails, rails_max);
    explain_rest(here, there, all, reasons);
    share_out(rails);
    std::string sentence = sentence_of(there.host, rails, reasons);
    return Rails{std::move(rails), std::move(sentence)};
  }
  if (const auto rail = routed_rail(here, there)) {
    const std::vector<std::string> reasons = {"no network in common, so routers have to join these"};
    return Rails{{*rail}, sentence_of(there.host, {&*rail, 1}, reasons)};
  }
  return Status(Code::network,
                fmt::format("{} and {} have no addresses that could reach each other; see 'tutti check' on "
                            "both, and TUTTI_SOCKET_IFNAME and TUTTI_SOCKET_FAMILY",
                            addresses_text(here), addresses_text(there)));
}

}  // namespace tutti::bootstrap

#include "bootstrap/network/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "bootstrap/network/words.h"

namespace tutti::bootstrap {

namespace {

using os::InterfaceKind;
using os::NetworkInterface;

bool is_allowed(SocketFamily family, const os::IpAddress& address) {
  switch (family) {
    case SocketFamily::any: return true;
    case SocketFamily::ipv4: return address.family == os::AddressFamily::ipv4;
    case SocketFamily::ipv6: return address.family == os::AddressFamily::ipv6;
  }
  return false;
}

std::string_view no_address_text(SocketFamily family) {
  switch (family) {
    case SocketFamily::any: return "no address";
    case SocketFamily::ipv4: return "no IPv4 address";
    case SocketFamily::ipv6: return "no IPv6 address";
  }
  return "";
}

// What nobody can use, whatever the user wishes; nullopt: it can be used.
std::optional<std::string> find_obstacle(const NetworkInterface& interface, SocketFamily family) {
  if (!interface.is_up) return "down";
  if (!interface.is_running) return "no link";
  const auto is_usable = [family](const auto& each) { return is_allowed(family, each.address); };
  if (std::ranges::none_of(interface.addresses, is_usable)) return std::string(no_address_text(family));
  return std::nullopt;
}

// What is only used when somebody names it.
std::optional<std::string> find_objection(const NetworkInterface& interface) {
  if (interface.is_loopback) return "loopback";
  if (interface.kind == InterfaceKind::bridge && !interface.has_physical_port) return "container bridge";
  return std::nullopt;
}

// The lower, the more likely it leads to other hosts.
int tier_of(const NetworkInterface& interface) {
  const bool has_routable =
      std::ranges::any_of(interface.addresses, [](const auto& each) { return !each.address.is_link_local(); });
  const int without_routable = has_routable ? 0 : 10;
  switch (interface.kind) {
    case InterfaceKind::physical:
    case InterfaceKind::bond:
    case InterfaceKind::stacked:
    case InterfaceKind::bridge: return without_routable;
    case InterfaceKind::veth: return without_routable + 1;
    case InterfaceKind::tunnel: return without_routable + 2;
    case InterfaceKind::synthetic: return without_routable + 3;
  }
  return without_routable;
}

std::string tier_text(const NetworkInterface& interface) {
  if (tier_of(interface) >= 10) return "only link-local addresses, and there are better ones";
  return fmt::format("{}, and there are better ones", name_of(interface.kind));
}

// Keeps only those of the lowest tier there is.
void keep_best_tier(Selection& selection) {
  const auto best = std::ranges::min_element(selection.chosen, {}, tier_of);
  if (best == selection.chosen.end()) return;
  const int tier = tier_of(*best);
  std::vector<NetworkInterface> kept;
  for (NetworkInterface& each : selection.chosen) {
    if (tier_of(each) == tier) {
      kept.push_back(std::move(each));
    } else {
      selection.dropped.push_back({each.name, tier_text(each)});
    }
  }
  selection.chosen = std::move(kept);
}

std::vector<std::string> names_of(std::span<const NetworkInterface> interfaces) {
  std::vector<std::string> names;
  for (const NetworkInterface& each : interfaces) names.push_back(each.name);
  return names;
}

std::string wish_text(const Wish& wish) {
  const bool is_avoid = wish.filter.sense == InterfaceFilter::Sense::avoid;
  const bool is_exact = wish.filter.match == InterfaceFilter::Match::exact;
  return fmt::format("{}={}{}{}", wish.variable, is_avoid ? "^" : "", is_exact ? "=" : "",
                     fmt::join(wish.filter.names, ","));
}

// The user named interfaces and none of them can be used.
Status nothing_named(std::span<const NetworkInterface> interfaces, const Wish& wish, const Selection& selection) {
  std::vector<std::string> named;
  for (const DroppedInterface& each : selection.dropped) {
    if (wish.filter.names_interface(each.name)) named.push_back(fmt::format("{} ({})", each.name, each.reason));
  }
  if (named.empty()) {
    return invalid_argument(
        fmt::format("{} matches no interface; there are {}", wish_text(wish), listed(names_of(interfaces))));
  }
  return invalid_argument(fmt::format("{} matches only {}, which cannot be used", wish_text(wish), listed(named)));
}

// One for all names with the same reason: "eth1 and eth2 dropped: down".
void add_dropped(std::span<const DroppedInterface> dropped, std::vector<std::string>& reasons) {
  std::vector<bool> is_done(dropped.size(), false);
  for (std::size_t first = 0; first < dropped.size(); ++first) {
    if (is_done[first]) continue;
    std::vector<std::string> names;
    for (std::size_t index = first; index < dropped.size(); ++index) {
      if (dropped[index].reason != dropped[first].reason) continue;
      names.push_back(dropped[index].name);
      is_done[index] = true;
    }
    reasons.push_back(fmt::format("{} dropped: {}", listed(names), dropped[first].reason));
  }
}

std::vector<std::string> networks_of(std::span<const NetworkInterface> interfaces) {
  std::vector<std::string> networks;
  for (const NetworkInterface& interface : interfaces) {
    for (const os::InterfaceAddress& each : interface.addresses) {
      const std::string network = os::network_text(each.address, each.prefix_bits);
      const bool is_known = std::ranges::find(networks, network) != networks.end();
      if (!is_known && !each.address.is_link_local()) networks.push_back(network);
    }
  }
  return networks;
}

std::string chosen_text(std::span<const NetworkInterface> chosen) {
  if (chosen.empty()) return "no interface chosen";
  std::vector<std::string> speeds;
  for (const NetworkInterface& each : chosen) speeds.push_back(speed_text(each.speed_bits));
  const bool is_same = std::ranges::all_of(speeds, [&](const std::string& each) { return each == speeds.front(); });
  std::string text =
      fmt::format("{} chosen: up, {}", listed(names_of(chosen)), is_same ? speeds.front() : listed(speeds));
  if (is_same && chosen.size() > 1) text += " each";
  if (const auto networks = networks_of(chosen); !networks.empty()) text += fmt::format(", in {}", listed(networks));
  return text;
}

}  // namespace

std::string speed_text(std::uint64_t bits_per_second) {
  if (bits_per_second == 0) return "unknown speed";
  const auto bits = static_cast<double>(bits_per_second);
  return bits >= 1e9 ? fmt::format("{:.4g} Gbit/s", bits / 1e9) : fmt::format("{:.4g} Mbit/s", bits / 1e6);
}

Result<Wish> wish_of(const Knobs& knobs) {
  Wish wish{.variable = std::string(knobs.variable_of(KnobId::socket_ifname)), .family = knobs.socket_family()};
  auto filter = parse_interface_filter(knobs.socket_ifname());
  if (!filter) return invalid_argument(fmt::format("{}: {}", wish.variable, filter.status().text()));
  wish.filter = *std::move(filter);
  return wish;
}

Result<Selection> select_interfaces(std::span<const NetworkInterface> interfaces, const Wish& wish) {
  const bool is_avoiding = wish.filter.sense == InterfaceFilter::Sense::avoid;
  const bool is_naming = !wish.filter.is_empty() && !is_avoiding;
  Selection selection;
  for (const NetworkInterface& interface : interfaces) {
    const bool is_named = wish.filter.names_interface(interface.name);
    std::optional<std::string> reason = find_obstacle(interface, wish.family);
    if (is_avoiding && is_named) reason = fmt::format("{} excludes it", wish_text(wish));
    if (is_naming && !is_named) reason = fmt::format("{} does not name it", wish_text(wish));
    if (!reason && !is_naming) reason = find_objection(interface);
    if (reason) {
      selection.dropped.push_back({interface.name, *reason});
      continue;
    }
    selection.chosen.push_back(interface);
    std::erase_if(selection.chosen.back().addresses,
                  [&](const auto& each) { return !is_allowed(wish.family, each.address); });
  }
  if (is_naming && selection.chosen.empty()) return nothing_named(interfaces, wish, selection);
  if (!is_naming) keep_best_tier(selection);
  std::ranges::stable_sort(selection.chosen, std::ranges::greater(), &NetworkInterface::speed_bits);
  return selection;
}

std::vector<std::string> Selection::reasons() const {
  std::vector<std::string> reasons = {chosen_text(chosen)};
  add_dropped(dropped, reasons);
  return reasons;
}

std::string Selection::sentence() const { return fmt::format("{}", fmt::join(reasons(), "; ")); }

}  // namespace tutti::bootstrap

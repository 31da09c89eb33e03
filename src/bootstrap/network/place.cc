#include "bootstrap/network/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/deadline.h"
#include "bootstrap/network/selection.h"
#include "os/clock.h"
#include "os/machine.h"
#include "os/network_interfaces.h"
#include "os/tcp_address.h"

namespace tutti::bootstrap {

namespace {

constexpr std::chrono::milliseconds kLinkWait{5000};
constexpr std::chrono::milliseconds kLinkPause{10};

// A bridge of containers has no link as long as there are none: nothing to wait for.
bool awaits_link(const os::NetworkInterface& interface) {
  const bool may_get_one = !interface.is_loopback && interface.kind != os::InterfaceKind::bridge;
  return may_get_one && interface.is_up && !interface.is_running && !interface.addresses.empty();
}

struct Survey {
  std::vector<os::NetworkInterface> interfaces;
  Selection selection;
};

Result<Survey> survey(const Wish& wish) {
  const Deadline deadline = Deadline::after(os::now(), kLinkWait);
  while (true) {  // bounded by the deadline
    TUTTI_ASSIGN(auto interfaces, os::find_network_interfaces());
    auto selection = select_interfaces(interfaces, wish);
    const bool is_empty = !selection || selection->chosen.empty();
    const bool may_change = is_empty && std::ranges::any_of(interfaces, awaits_link);
    if (!may_change || deadline.has_passed(os::now())) {
      TUTTI_TRY(selection.status());
      return Survey{std::move(interfaces), *std::move(selection)};
    }
    std::this_thread::sleep_for(kLinkPause);
  }
}

}  // namespace

Result<Place> find_place(const Knobs& knobs) {
  TUTTI_ASSIGN(const Wish wish, wish_of(knobs));
  TUTTI_ASSIGN(const Survey found, survey(wish));
  const auto& [interfaces, selection] = found;
  Place place;
  place.has_network = !selection.chosen.empty();
  for (const os::NetworkInterface& interface : interfaces) {
    for (const os::InterfaceAddress& each : interface.addresses) place.own.push_back(each.address);
  }
  place.offer = offer_of(selection, interfaces, wish, os::this_machine(), os::network_namespace_id());
  place.sentence = selection.sentence();
  // Link-local addresses are for networks that have nothing else.
  for (const bool is_link_local : {false, true}) {
    if (!place.listen.empty()) break;
    for (const os::NetworkInterface& chosen : selection.chosen) {
      for (const os::InterfaceAddress& address : chosen.addresses) {
        if (address.address.is_link_local() == is_link_local) {
          place.listen.push_back(os::TcpAddress(address.address, 0).text());
        }
      }
    }
  }
  if (place.listen.empty()) {
    place.listen.push_back(place.offer.has_loopback_ipv4 || !place.offer.has_loopback_ipv6 ? "127.0.0.1:0" : "[::1]:0");
  }
  return place;
}

Status validate_reach(const Place& place, std::span<const std::string> addresses) {
  if (place.has_network) return {};
  for (const std::string& text : addresses) {
    const auto address = os::TcpAddress::parse(text);
    if (!address) continue;
    const os::IpAddress& theirs = address->ip();
    const auto is_it = [&](const os::IpAddress& own) {
      return own.family == theirs.family && own.bytes == theirs.bytes;
    };
    if (std::ranges::any_of(place.own, is_it)) return {};
  }
  return Status(Code::network,
                fmt::format("no interface of this host can be used to reach {} ({}); give it one that is up, or name "
                            "one that was dropped in TUTTI_SOCKET_IFNAME",
                            addresses.empty() ? "other hosts" : addresses.front(), place.sentence));
}

}  // namespace tutti::bootstrap

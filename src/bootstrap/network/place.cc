#include "bootstrap/network/place.h"

#include <fmt/format.h>

#include "bootstrap/network/selection.h"
#include "os/machine.h"
#include "os/network_interfaces.h"

namespace tutti::bootstrap {

std::string endpoint_text(const os::IpAddress& address, int port) {
  const bool is_v6 = address.family == os::AddressFamily::ipv6;
  return fmt::format(fmt::runtime(is_v6 ? "[{}]:{}" : "{}:{}"), os::text_of(address), port);
}

Result<Place> find_place(const Knobs& knobs) {
  TUTTI_ASSIGN(const Wish wish, wish_of(knobs));
  TUTTI_ASSIGN(const auto interfaces, os::find_network_interfaces());
  TUTTI_ASSIGN(const Selection selection, select_interfaces(interfaces, wish));
  Place place;
  place.offer = offer_of(selection, interfaces, wish, os::this_machine(), os::network_namespace_id());
  place.sentence = selection.sentence();
  // Link-local addresses are for networks that have nothing else.
  for (const bool is_link_local : {false, true}) {
    if (!place.listen.empty()) break;
    for (const os::NetworkInterface& chosen : selection.chosen) {
      for (const os::InterfaceAddress& address : chosen.addresses) {
        if (address.address.is_link_local() == is_link_local) {
          place.listen.push_back(endpoint_text(address.address, 0));
        }
      }
    }
  }
  if (place.listen.empty()) {
    place.listen.push_back(place.offer.has_loopback_ipv4 || !place.offer.has_loopback_ipv6 ? "127.0.0.1:0" : "[::1]:0");
  }
  return place;
}

}  // namespace tutti::bootstrap

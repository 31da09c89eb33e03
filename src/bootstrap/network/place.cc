#include "bootstrap/network/place.h"

#include "bootstrap/network/selection.h"
#include "os/machine.h"
#include "os/network_interfaces.h"
#include "os/tcp_address.h"

namespace tutti::bootstrap {

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

}  // namespace tutti::bootstrap

// Which interfaces of one host a job may use, and why not the others. Pure: the interfaces are an argument.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/knobs.h"
#include "bootstrap/network/interface_filter.h"
#include "os/network_interfaces.h"

namespace tutti::bootstrap {

struct DroppedInterface {
  std::string name;
  std::string reason;
};

struct Selection {
  std::vector<os::NetworkInterface> chosen;  // the best first, each with the addresses that may be used
  std::vector<DroppedInterface> dropped;
  // "eth1 and eth2 chosen: up, 10 Gbit/s each, in 10.0.0.0/24 and 10.0.1.0/24", "docker0 dropped: container bridge"
  std::vector<std::string> reasons() const;
  std::string sentence() const;  // all reasons in one
};

struct Wish {
  InterfaceFilter filter = {};
  std::string variable = "TUTTI_SOCKET_IFNAME";  // that the filter came from, for messages
  SocketFamily family = SocketFamily::any;
};

// What the settings wish. Fails where the names of interfaces are malformed.
Result<Wish> wish_of(const Knobs& knobs);

// Interfaces that are up, have a link and an address. Without names of interfaces from the user, loopback and bridges
// of containers are not used, and of the others only the most real: cards before pairs (veth) before tunnels. So a pair
// is used where it is all there is, as in containers. Names that match nothing usable are an error; having no interface
// at all is none, since ranks of one host need none.
Result<Selection> select_interfaces(std::span<const os::NetworkInterface> interfaces, const Wish& wish);

std::string speed_text(std::uint64_t bits_per_second);  // "10 Gbit/s", "unknown speed"

}  // namespace tutti::bootstrap

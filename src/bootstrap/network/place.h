// This process on its networks: which interfaces it uses, where it listens, and what it tells the others of that.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/knobs.h"
#include "bootstrap/network/offer.h"
#include "os/ip_address.h"
#include "tutti/status.h"

namespace tutti::bootstrap {

struct Place {
  Offer offer;
  std::vector<std::string> listen;  // "10.0.0.1:0", the best first; loopback where there is nothing else
  std::string sentence;             // which interfaces, and why
  bool has_network = false;         // other hosts can reach it
  std::vector<os::IpAddress> own;   // of all interfaces, used or not
};

// Where no interface can be used but one is about to get its link, as when a container starts, waits a little for it.
Result<Place> find_place(const Knobs& knobs);

// A process that others cannot reach may only join who is on the same host. `addresses` of whom it joins:
// "10.0.0.1:80".
Status validate_reach(const Place& place, std::span<const std::string> addresses);

}  // namespace tutti::bootstrap

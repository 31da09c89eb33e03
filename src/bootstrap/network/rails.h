// Over which addresses two hosts talk: one rail for each network that they share. Pure, and each side finds the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bootstrap/network/offer.h"
#include "os/ip_address.h"

namespace tutti::bootstrap {

struct Rail {
  std::string local_interface = {};
  std::string remote_interface = {};
  os::IpAddress local = {};  // link-local addresses have the scope that they have on this host
  os::IpAddress remote = {};
  std::uint64_t speed_bits = 0;  // of the slower end, per second; 0: unknown
  double share = 1;              // of the data, before anything is measured; those of all rails add up to 1
  bool operator==(const Rail&) const = default;
};

struct Rails {
  std::vector<Rail> rails;  // the fastest first; at least one
  std::string sentence;     // for the log: which, why, and why not the others
};

// One place: loopback. Otherwise a rail for each subnet that both have an address in, an interface in one rail at most
// and a subnet for one rail at most, since hosts with two interfaces in one subnet send through only one of them. Rails
// far slower than the first are left out. Where no subnet is shared: one rail between the best addresses of a kind,
// which routers have to join. Link-local addresses come last, loopback never. An address that both hosts have, such as
// that of a bridge for containers, is no network between them.
Result<Rails> rails_between(const Offer& here, const Offer& there, int rails_max);

}  // namespace tutti::bootstrap

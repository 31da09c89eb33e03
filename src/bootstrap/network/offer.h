// What a host tells the others of its interfaces, and the bytes in which it travels in a rank's card.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bootstrap/network/selection.h"
#include "bootstrap/store.h"
#include "os/machine.h"

namespace tutti::bootstrap {

// Limits keep a card small: every rank gets those of all others.
inline constexpr std::size_t kOfferedInterfacesMax = 8;
inline constexpr std::size_t kOfferedAddressesMax = 4;  // of one interface
inline constexpr std::size_t kPlaceNameBytesMax = 64;   // of a host or a machine
inline constexpr std::size_t kOfferBytesMax =
    2 + 8 + 2 * (1 + kPlaceNameBytesMax) + 1 +
    kOfferedInterfacesMax * (1 + kInterfaceNameBytesMax + 4 + 4 + 1 + kOfferedAddressesMax * (2 + 16));

struct OfferedInterface {
  std::string name = {};
  std::uint32_t index = 0;                           // on its own host
  std::uint32_t speed_megabits = 0;                  // per second; 0: unknown
  std::vector<os::InterfaceAddress> addresses = {};  // without scopes: these mean something on one host only
  bool operator==(const OfferedInterface&) const = default;
};

struct Offer {
  std::string host = {};                // for messages
  std::string machine = {};             // boot identifier; empty: unknown, and different from every other
  std::uint64_t network_namespace = 0;  // 0: unknown, and different from every other
  bool has_loopback_ipv4 = false;
  bool has_loopback_ipv6 = false;
  std::vector<OfferedInterface> interfaces = {};  // the best first
  bool operator==(const Offer&) const = default;
};

// Whether both are in one network namespace of one machine, where loopback leads from one to the other.
bool is_same_place(const Offer& a, const Offer& b);

// What goes beyond the limits is left out, the worst first. `all` tells which loopback addresses there are.
Offer offer_of(const Selection& selection, std::span<const os::NetworkInterface> all, const Wish& wish,
               const os::Machine& machine, std::uint64_t network_namespace);

Bytes encode(const Offer& offer);
// Fails on anything that encode() does not write.
Result<Offer> decode_offer(std::span<const std::byte> bytes);

}  // namespace tutti::bootstrap

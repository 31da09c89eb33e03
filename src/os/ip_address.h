// Addresses of IPv4 and IPv6 as values: text, subnets, and what kind of address it is.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::os {

enum class AddressFamily : std::uint8_t { ipv4, ipv6 };

inline constexpr int bits_of(AddressFamily family) { return family == AddressFamily::ipv4 ? 32 : 128; }

struct IpAddress {
  AddressFamily family = AddressFamily::ipv4;
  std::array<std::uint8_t, 16> bytes = {};  // in the order of the network; of IPv4 the first four, the others are 0
  std::uint32_t scope_id = 0;               // of link-local IPv6: the index of the interface on the host that uses it
  auto operator<=>(const IpAddress&) const = default;

  bool is_loopback() const;
  bool is_link_local() const;  // 169.254.0.0/16, fe80::/10
  // Not meant for the whole internet: 10/8, 172.16/12, 192.168/16, 100.64/10, fc00::/7.
  bool is_private() const;
  bool is_unspecified() const;  // all bits 0
};

// "10.0.0.1", "fd00::1", "fe80::1%3": the scope is a number, since names differ between hosts.
std::string text_of(const IpAddress& address);
// Also "fe80::1%eth0", with the name of an interface of this host. nullopt: none of these. Names of hosts are not
// looked up.
std::optional<IpAddress> parse_ip_address(std::string_view text);

// The address with all but its first bits 0, and without a scope.
IpAddress network_of(const IpAddress& address, int prefix_bits);
// "10.0.0.0/24".
std::string network_text(const IpAddress& address, int prefix_bits);

}  // namespace tutti::os

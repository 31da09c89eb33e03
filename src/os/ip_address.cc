#include "os/ip_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>

#include "base/text.h"

namespace tutti::os {

namespace {

// Whether the address begins with those bits, written as an address.
bool is_in(const IpAddress& address, AddressFamily family, std::array<std::uint8_t, 4> network, int prefix_bits) {
  if (address.family != family) return false;
  const IpAddress masked = network_of(address, prefix_bits);
  return std::equal(network.begin(), network.end(), masked.bytes.begin());
}

// The interface of a link-local address, by number or by its name on this host; 0: there is none.
std::uint32_t scope_of(std::string_view text) {
  if (const auto number = text::integer_of<std::uint32_t>(text)) return *number;
  return ::if_nametoindex(std::string(text).c_str());
}

}  // namespace

bool IpAddress::is_loopback() const {
  if (family == AddressFamily::ipv4) return bytes[0] == 127;
  return std::all_of(bytes.begin(), bytes.end() - 1, [](auto byte) { return byte == 0; }) && bytes[15] == 1;
}

bool IpAddress::is_link_local() const {
  return is_in(*this, AddressFamily::ipv4, {169, 254, 0, 0}, 16) ||
         is_in(*this, AddressFamily::ipv6, {0xfe, 0x80, 0, 0}, 10);
}

bool IpAddress::is_private() const {
  return is_in(*this, AddressFamily::ipv4, {10, 0, 0, 0}, 8) ||
         is_in(*this, AddressFamily::ipv4, {172, 16, 0, 0}, 12) ||
         is_in(*this, AddressFamily::ipv4, {192, 168, 0, 0}, 16) ||
         is_in(*this, AddressFamily::ipv4, {100, 64, 0, 0}, 10) ||
         is_in(*this, AddressFamily::ipv6, {0xfc, 0, 0, 0}, 7);
}

bool IpAddress::is_unspecified() const {
  return std::ranges::all_of(bytes, [](auto byte) { return byte == 0; });
}

std::string text_of(const IpAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = address.family == AddressFamily::ipv4 ? AF_INET : AF_INET6;
  if (inet_ntop(family, address.bytes.data(), text.data(), text.size()) == nullptr) return "?";
  return address.scope_id == 0 ? std::string(text.data()) : fmt::format("{}%{}", text.data(), address.scope_id);
}

std::optional<IpAddress> parse_ip_address(std::string_view text) {
  const std::size_t percent = text.find('%');
  const std::string bare(text.substr(0, percent));
  IpAddress address;
  if (inet_pton(AF_INET, bare.c_str(), address.bytes.data()) == 1) {
    return percent == std::string_view::npos && bare.size() == text.size() ? std::optional(address) : std::nullopt;
  }
  address.family = AddressFamily::ipv6;
  if (inet_pton(AF_INET6, bare.c_str(), address.bytes.data()) != 1) return std::nullopt;
  if (percent == std::string_view::npos) return address;
  address.scope_id = scope_of(text.substr(percent + 1));
  return address.scope_id == 0 ? std::nullopt : std::optional(address);
}

IpAddress network_of(const IpAddress& address, int prefix_bits) {
  IpAddress network{.family = address.family};
  for (int index = 0; index < bits_of(address.family) / 8; ++index) {
    const int kept = std::clamp(prefix_bits - 8 * index, 0, 8);
    const auto position = static_cast<std::size_t>(index);
    network.bytes[position] = static_cast<std::uint8_t>(address.bytes[position] & (0xff00u >> kept));
  }
  return network;
}

std::string network_text(const IpAddress& address, int prefix_bits) {
  return fmt::format("{}/{}", text_of(network_of(address, prefix_bits)), prefix_bits);
}

}  // namespace tutti::os

#include "os/tcp_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>

#include <cstring>
#include <optional>

#include "base/text.h"

namespace tutti::os {
namespace {

constexpr std::size_t kTextBytesMax = 128;  // longer than any address with the name of an interface

Status malformed(std::string_view text, std::string_view why) {
  return invalid_argument(
      fmt::format("'{}' is no TCP address: {}; write '10.0.0.1:4000' or '[fd00::1]:4000'", text, why));
}

// The interface of a link-local address, by name or by number.
std::optional<std::uint32_t> scope_of(std::string_view name) {
  if (const auto number = text::integer_of<std::uint32_t>(name)) return number;
  const unsigned index = ::if_nametoindex(std::string(name).c_str());
  if (index == 0) return std::nullopt;
  return index;
}

}  // namespace

TcpAddress::TcpAddress(const sockaddr_in& address) { std::memcpy(&storage_, &address, sizeof(address)); }
TcpAddress::TcpAddress(const sockaddr_in6& address) { std::memcpy(&storage_, &address, sizeof(address)); }

sockaddr_in TcpAddress::ipv4() const {
  sockaddr_in address{};
  std::memcpy(&address, &storage_, sizeof(address));
  return address;
}

sockaddr_in6 TcpAddress::ipv6() const {
  sockaddr_in6 address{};
  std::memcpy(&address, &storage_, sizeof(address));
  return address;
}

Result<TcpAddress> TcpAddress::of_host(std::string_view host, std::uint16_t port) {
  if (host.size() > kTextBytesMax) return malformed(host.substr(0, kTextBytesMax), "it is too long");
  const std::size_t percent = host.find('%');
  const std::string number(host.substr(0, percent));
  sockaddr_in ipv4{};
  if (percent == std::string_view::npos && ::inet_pton(AF_INET, number.c_str(), &ipv4.sin_addr) == 1) {
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(port);
    return TcpAddress(ipv4);
  }
  sockaddr_in6 ipv6{};
  if (::inet_pton(AF_INET6, number.c_str(), &ipv6.sin6_addr) != 1)
    return malformed(host, "it is neither an IPv4 nor an IPv6 number");
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_port = htons(port);
  if (percent != std::string_view::npos) {
    const std::string_view name = host.substr(percent + 1);
    const auto scope = scope_of(name);
    if (!scope) return malformed(host, fmt::format("there is no interface '{}'", name));
    ipv6.sin6_scope_id = *scope;
  }
  return TcpAddress(ipv6);
}

Result<TcpAddress> TcpAddress::parse(std::string_view text) {
  if (text.size() > kTextBytesMax) return malformed(text.substr(0, kTextBytesMax), "it is too long");
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return malformed(text, "it has no port");
  std::string_view host = text.substr(0, colon);
  const bool is_in_brackets = host.starts_with('[') && host.ends_with(']');
  if (is_in_brackets) host = host.substr(1, host.size() - 2);
  if (is_in_brackets != (host.find(':') != std::string_view::npos))
    return malformed(text, "an IPv6 number, and nothing else, stands in brackets");
  const auto port = text::integer_of<std::uint16_t>(text.substr(colon + 1));
  if (!port) return malformed(text, "its port is no number from 0 to 65535");
  return of_host(host, *port);
}

TcpAddress TcpAddress::of_kernel(const sockaddr_storage& storage) {
  if (storage.ss_family != AF_INET6) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, &storage, sizeof(ipv4));
    ipv4.sin_family = AF_INET;
    return TcpAddress(ipv4);
  }
  sockaddr_in6 ipv6{};
  std::memcpy(&ipv6, &storage, sizeof(ipv6));
  if (!IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr)) return TcpAddress(ipv6);
  constexpr std::size_t kPrefixBytes = 12;
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  ipv4.sin_port = ipv6.sin6_port;
  std::memcpy(&ipv4.sin_addr, ipv6.sin6_addr.s6_addr + kPrefixBytes, sizeof(ipv4.sin_addr));
  return TcpAddress(ipv4);
}

std::string TcpAddress::host() const {
  char text[INET6_ADDRSTRLEN] = {};
  if (!is_ipv6()) {
    const sockaddr_in address = ipv4();
    return ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof(text));
  }
  const sockaddr_in6 address = ipv6();
  std::string host = ::inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof(text));
  if (address.sin6_scope_id == 0) return host;
  char name[IF_NAMESIZE] = {};
  if (::if_indextoname(address.sin6_scope_id, name) != nullptr) return host + "%" + name;
  return fmt::format("{}%{}", host, address.sin6_scope_id);
}

std::string TcpAddress::text() const {
  return is_ipv6() ? fmt::format("[{}]:{}", host(), port()) : fmt::format("{}:{}", host(), port());
}

std::uint16_t TcpAddress::port() const { return ntohs(is_ipv6() ? ipv6().sin6_port : ipv4().sin_port); }

TcpAddress TcpAddress::with_port(std::uint16_t port) const {
  if (is_ipv6()) {
    sockaddr_in6 address = ipv6();
    address.sin6_port = htons(port);
    return TcpAddress(address);
  }
  sockaddr_in address = ipv4();
  address.sin_port = htons(port);
  return TcpAddress(address);
}

bool TcpAddress::is_any() const {
  if (!is_ipv6()) return ipv4().sin_addr.s_addr == htonl(INADDR_ANY);
  const sockaddr_in6 address = ipv6();
  return IN6_IS_ADDR_UNSPECIFIED(&address.sin6_addr);
}

}  // namespace tutti::os

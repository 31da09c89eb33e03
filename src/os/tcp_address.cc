#include "os/tcp_address.h"

#include <fmt/format.h>

#include <cstring>

#include "base/text.h"

namespace tutti::os {
namespace {

constexpr std::size_t kTextBytesMax = 128;  // longer than any address with the name of an interface

Status malformed(std::string_view text, std::string_view why) {
  return invalid_argument(
      fmt::format("'{}' is no TCP address: {}; write '10.0.0.1:4000' or '[fd00::1]:4000'", text, why));
}

}  // namespace

Result<TcpAddress> TcpAddress::of_host(std::string_view host, std::uint16_t port) {
  if (host.size() > kTextBytesMax) return malformed(host.substr(0, kTextBytesMax), "it is too long");
  if (const auto ip = parse_ip_address(host)) return TcpAddress(*ip, port);
  const std::size_t percent = host.find('%');
  const auto bare = parse_ip_address(host.substr(0, percent));
  if (bare && bare->family == AddressFamily::ipv6)
    return malformed(host, fmt::format("there is no interface '{}'", host.substr(percent + 1)));
  return malformed(host, "it is neither an IPv4 nor an IPv6 number");
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
  IpAddress ip;
  if (storage.ss_family != AF_INET6) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, &storage, sizeof(ipv4));
    std::memcpy(ip.bytes.data(), &ipv4.sin_addr, sizeof(ipv4.sin_addr));
    return {ip, ntohs(ipv4.sin_port)};
  }
  sockaddr_in6 ipv6{};
  std::memcpy(&ipv6, &storage, sizeof(ipv6));
  const std::uint16_t port = ntohs(ipv6.sin6_port);
  if (IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr)) {
    constexpr std::size_t kPrefixBytes = 12;
    std::memcpy(ip.bytes.data(), ipv6.sin6_addr.s6_addr + kPrefixBytes, sizeof(in_addr));
    return {ip, port};
  }
  ip.family = AddressFamily::ipv6;
  std::memcpy(ip.bytes.data(), &ipv6.sin6_addr, sizeof(ipv6.sin6_addr));
  ip.scope_id = ipv6.sin6_scope_id;
  return {ip, port};
}

KernelAddress TcpAddress::kernel() const {
  KernelAddress address;
  if (is_ipv6()) {
    sockaddr_in6 ipv6{};
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(port_);
    ipv6.sin6_scope_id = ip_.scope_id;
    std::memcpy(&ipv6.sin6_addr, ip_.bytes.data(), sizeof(ipv6.sin6_addr));
    address.length = sizeof(ipv6);
    std::memcpy(&address.storage, &ipv6, sizeof(ipv6));
    return address;
  }
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  ipv4.sin_port = htons(port_);
  std::memcpy(&ipv4.sin_addr, ip_.bytes.data(), sizeof(ipv4.sin_addr));
  address.length = sizeof(ipv4);
  std::memcpy(&address.storage, &ipv4, sizeof(ipv4));
  return address;
}

std::string TcpAddress::text() const {
  return is_ipv6() ? fmt::format("[{}]:{}", host(), port_) : fmt::format("{}:{}", host(), port_);
}

}  // namespace tutti::os

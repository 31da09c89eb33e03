// Where a TCP socket listens or connects to: an IP address and a port.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "os/ip_address.h"
#include "tutti/status.h"

namespace tutti::os {

// What calls of the kernel take.
struct KernelAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

class TcpAddress {
 public:
  TcpAddress(const IpAddress& ip, std::uint16_t port) : ip_(ip), port_(port) {}
  // "10.0.0.1:4000", "[fd00::1]:4000", "[fe80::1%eth0]:4000". Numbers only: no name of a host is ever looked up.
  static Result<TcpAddress> parse(std::string_view text);
  // The same without a port: "10.0.0.1", "fd00::1", "fe80::1%eth0".
  static Result<TcpAddress> of_host(std::string_view host, std::uint16_t port);
  // What the kernel says; an IPv4 address inside an IPv6 one becomes the IPv4 address.
  static TcpAddress of_kernel(const sockaddr_storage& storage);

  std::string text() const;                          // what parse() reads
  std::string host() const { return text_of(ip_); }  // what of_host() reads
  const IpAddress& ip() const { return ip_; }
  std::uint16_t port() const { return port_; }
  TcpAddress with_port(std::uint16_t port) const { return {ip_, port}; }
  bool is_ipv6() const { return ip_.family == AddressFamily::ipv6; }
  bool is_any() const { return ip_.is_unspecified(); }  // all addresses of this machine, of use only for listening

  KernelAddress kernel() const;
  auto operator<=>(const TcpAddress&) const = default;

 private:
  IpAddress ip_;
  std::uint16_t port_;
};

}  // namespace tutti::os

// Where a TCP socket listens or connects to: an IPv4 or IPv6 address, its interface where it needs one, and a port.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tutti/status.h"

namespace tutti::os {

class TcpAddress {
 public:
  // "10.0.0.1:4000", "[fd00::1]:4000", "[fe80::1%eth0]:4000". Numbers only: no name is ever looked up.
  static Result<TcpAddress> parse(std::string_view text);
  // The same without a port: "10.0.0.1", "fd00::1", "fe80::1%eth0".
  static Result<TcpAddress> of_host(std::string_view host, std::uint16_t port);
  // What the kernel says; an IPv4 address inside an IPv6 one becomes the IPv4 address.
  static TcpAddress of_kernel(const sockaddr_storage& storage);

  std::string text() const;  // what parse() reads
  std::string host() const;  // what of_host() reads
  std::uint16_t port() const;
  TcpAddress with_port(std::uint16_t port) const;
  bool is_ipv6() const { return storage_.ss_family == AF_INET6; }
  bool is_any() const;  // 0.0.0.0 or [::]: all addresses of this machine, of use only for listening

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t length() const { return is_ipv6() ? sizeof(sockaddr_in6) : sizeof(sockaddr_in); }
  bool operator==(const TcpAddress& other) const { return text() == other.text(); }

 private:
  explicit TcpAddress(const sockaddr_in& address);
  explicit TcpAddress(const sockaddr_in6& address);
  sockaddr_in ipv4() const;
  sockaddr_in6 ipv6() const;

  sockaddr_storage storage_{};
};

}  // namespace tutti::os

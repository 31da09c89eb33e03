// Plain TCP between the hosts of a lab: the two ends of one connection, each to be used in a process of its own.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "os/file_descriptor.h"
#include "tests/process/board.h"

namespace tutti::network {

using conformance::Board;
using os::FileDescriptor;

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t length = 0;
};

inline SocketAddress socket_address(const std::string& host, std::uint16_t port) {
  SocketAddress address;
  sockaddr_in6 six{};
  sockaddr_in four{};
  if (::inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    std::memcpy(&address.bytes, &six, address.length = sizeof(six));
  } else if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    std::memcpy(&address.bytes, &four, address.length = sizeof(four));
  }
  return address;
}

inline const sockaddr* generic(const SocketAddress& address) {
  return reinterpret_cast<const sockaddr*>(&address.bytes);
}

// The first connection to a port that the kernel chooses; the board says which. Closed: something failed.
inline FileDescriptor accept_one(const std::string& host, const Board& board) {
  const SocketAddress wanted = socket_address(host, 0);
  const FileDescriptor listener(::socket(wanted.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(listener.get(), generic(wanted), wanted.length) != 0 || ::listen(listener.get(), 1) != 0) return {};
  sockaddr_in6 bound{};  // the port is at the same place in both families
  socklen_t length = sizeof(bound);
  if (::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&bound), &length) != 0) return {};
  board.started().store(ntohs(bound.sin6_port));
  return FileDescriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
}

inline FileDescriptor connect_to(const std::string& host, const Board& board) {
  if (!Board::wait_for(board.started(), 1)) return {};
  const SocketAddress peer = socket_address(host, static_cast<std::uint16_t>(board.started().load()));
  FileDescriptor connection(::socket(peer.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(connection.get(), generic(peer), peer.length) != 0) return {};
  return connection;
}

inline bool send_all(const FileDescriptor& connection, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(connection.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

inline bool receive_all(const FileDescriptor& connection, std::span<char> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::recv(connection.get(), bytes.data(), bytes.size(), 0);
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

// Whether anything, be it an end or an error, arrives within the time.
inline bool has_news(const FileDescriptor& connection, int limit_ms) {
  pollfd end{.fd = connection.get(), .events = POLLIN, .revents = 0};
  return ::poll(&end, 1, limit_ms) > 0;
}

// Sends back what comes until the other end closes.
inline std::string echo(const FileDescriptor& connection) {
  if (!connection.is_open()) return "no connection came";
  for (char letter = 0; receive_all(connection, {&letter, 1});) {
    if (!send_all(connection, {&letter, 1})) return "the answer could not be sent";
  }
  return "";
}

}  // namespace tutti::network

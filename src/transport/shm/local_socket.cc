#include "transport/shm/local_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "os/error_text.h"

namespace tutti::transport {

namespace {

constexpr int kSocketKind = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;

struct Address {
  sockaddr_un value{};
  socklen_t size = 0;
};

// An abstract name: it begins with a zero and is nobody's file, so nothing is left behind.
Address address_of(const std::string& name) {
  Address address;
  address.value.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof(address.value.sun_path) - 1);
  std::memcpy(address.value.sun_path + 1, name.data(), length);
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return address;
}

Result<os::FileDescriptor> create_socket() {
  os::FileDescriptor socket(::socket(AF_UNIX, kSocketKind, 0));
  if (socket.is_open()) return socket;
  return Status(Code::network, fmt::format("cannot create a Unix socket: {}; there may be too many open files ('ulimit "
                                           "-n')",
                                           os::error_text(errno)));
}

// All descriptors that came, so that none of them is lost.
std::vector<os::FileDescriptor> take_descriptors(msghdr& message) {
  std::vector<os::FileDescriptor> descriptors;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      descriptors.emplace_back(descriptor);
    }
  }
  return descriptors;
}

}  // namespace

Result<os::FileDescriptor> listen_on(const std::string& name) {
  constexpr int kBacklog = 4096;  // the kernel cuts it to net.core.somaxconn
  TUTTI_ASSIGN(os::FileDescriptor socket, create_socket());
  const Address address = address_of(name);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.value), address.size) != 0 ||
      listen(socket.get(), kBacklog) != 0) {
    return Status(Code::network, fmt::format("cannot listen on the socket @{}: {}", name, os::error_text(errno)));
  }
  return socket;
}

Result<std::optional<os::FileDescriptor>> connect_to(const std::string& name) {
  TUTTI_ASSIGN(os::FileDescriptor socket, create_socket());
  const Address address = address_of(name);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address.value), address.size) == 0)
    return std::optional(std::move(socket));
  if (errno == EAGAIN || errno == EINTR) return std::optional<os::FileDescriptor>();
  const Code code = errno == ECONNREFUSED ? Code::peer_lost : Code::network;
  return Status(code, fmt::format("cannot connect to its socket @{}: {}", name, os::error_text(errno)));
}

Result<std::optional<os::FileDescriptor>> accept_from(int listener) {
  os::FileDescriptor socket(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.is_open()) return std::optional(std::move(socket));
  if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return std::optional<os::FileDescriptor>();
  return Status(Code::network, fmt::format("cannot accept a connection: {}; there may be too many open files ('ulimit "
                                           "-n')",
                                           os::error_text(errno)));
}

Result<Peer> peer_of(int socket) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0)
    return Peer{.pid = credentials.pid, .uid = credentials.uid};
  return Status(Code::network, fmt::format("the kernel does not tell who connected: {}", os::error_text(errno)));
}

Status send_packet(int socket, std::span<const std::byte> bytes, int descriptor) {
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};  // NOLINT: sendmsg only reads it
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  if (sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return {};
  // ETOOMANYREFS: too many descriptors are under way; those who receive them make room.
  const bool is_later = errno == EAGAIN || errno == EINTR || errno == ETOOMANYREFS;
  return {is_later ? Code::timed_out : Code::peer_lost, fmt::format("cannot send to it: {}", os::error_text(errno))};
}

Result<std::optional<Packet>> receive_packet(int socket, std::size_t bytes_max) {
  Packet packet;
  packet.bytes.resize(bytes_max);
  iovec part{packet.bytes.data(), packet.bytes.size()};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::optional<Packet>();
  if (got <= 0) return Status(Code::peer_lost, "it closed the connection");
  auto descriptors = take_descriptors(message);
  if (descriptors.size() != 1 || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    return invalid_argument("what came is not a packet with one descriptor");
  packet.bytes.resize(static_cast<std::size_t>(got));
  packet.descriptor = std::move(descriptors.front());
  return std::optional(std::move(packet));
}

}  // namespace tutti::transport

// Packets that carry a descriptor to another process.
#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "os/error_text.h"
#include "os/unix_socket.h"

namespace tutti::os {
namespace {

// What the kernel takes and gives: one row of bytes and room for one descriptor. It points into itself.
struct Envelope {
  iovec part{};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};

  Envelope(void* data, std::size_t size) : part{data, size} {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  Envelope(const Envelope&) = delete;
  Envelope& operator=(const Envelope&) = delete;
};

// All descriptors that came, so that none of them is lost.
std::vector<FileDescriptor> take_descriptors(msghdr& message) {
  std::vector<FileDescriptor> descriptors;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t index = 0; index < count; ++index) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + index * sizeof(int), sizeof(int));
      descriptors.emplace_back(descriptor);
    }
  }
  return descriptors;
}

}  // namespace

Result<bool> UnixSocket::try_send_packet(std::span<const std::byte> bytes, int descriptor) {
  Envelope envelope(const_cast<std::byte*>(bytes.data()), bytes.size());  // NOLINT: sendmsg only reads it
  cmsghdr* const header = CMSG_FIRSTHDR(&envelope.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  if (::sendmsg(fd_.get(), &envelope.message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return true;
  // ETOOMANYREFS: too many descriptors are under way; those who receive them make room.
  if (errno == EAGAIN || errno == EINTR || errno == ETOOMANYREFS) return false;
  return Status(Code::peer_lost, fmt::format("cannot send to it: {}", error_text(errno)), Scope::connection);
}

Result<std::optional<UnixSocket::Packet>> UnixSocket::try_receive_packet(std::size_t bytes_max) {
  Packet packet;
  packet.bytes.resize(bytes_max);
  Envelope envelope(packet.bytes.data(), packet.bytes.size());
  const ssize_t received = ::recvmsg(fd_.get(), &envelope.message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) return std::optional<Packet>();
  if (received <= 0) return Status(Code::peer_lost, "it closed the connection", Scope::connection);
  auto descriptors = take_descriptors(envelope.message);
  if (descriptors.size() != 1 || (envelope.message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    return invalid_argument("what came is not a packet with one descriptor");
  packet.bytes.resize(static_cast<std::size_t>(received));
  packet.descriptor = std::move(descriptors.front());
  return std::optional(std::move(packet));
}

}  // namespace tutti::os

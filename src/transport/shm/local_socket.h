// Packets and descriptors between processes of this machine: abstract Unix sockets that never block.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "os/file_descriptor.h"
#include "tutti/status.h"

namespace tutti::transport {

Result<os::FileDescriptor> listen_on(const std::string& name);
// nullopt: the listener's queue is full, try again later.
Result<std::optional<os::FileDescriptor>> connect_to(const std::string& name);
// nullopt: nobody waits.
Result<std::optional<os::FileDescriptor>> accept_from(int listener);

// Who is at the other end, vouched for by the kernel: who connected, or who called listen. pid 0: of another namespace.
struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
};
Result<Peer> peer_of(int socket);

// A packet with one descriptor. Code::timed_out: it cannot be sent now.
Status send_packet(int socket, std::span<const std::byte> bytes, int descriptor);

struct Packet {
  std::vector<std::byte> bytes;
  os::FileDescriptor descriptor;
};
// nullopt: nothing is there yet. A failure when the other side closed, or sent more than `bytes_max` or anything but
// one descriptor; what else came with it is closed.
Result<std::optional<Packet>> receive_packet(int socket, std::size_t bytes_max);

}  // namespace tutti::transport

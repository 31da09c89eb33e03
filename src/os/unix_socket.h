// Sockets between processes of this machine, by path or by abstract name, with a deadline for every wait.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/deadline.h"
#include "os/file_descriptor.h"
#include "tutti/status.h"

namespace tutti::os {

// A stream has no borders between messages; packets arrive whole and in order.
enum class SocketKind : std::uint8_t { stream, packet };

// What the kernel takes: 108 bytes with the zero at the end.
inline constexpr std::size_t kSocketNameBytesMax = 107;

// One end of a connection. Nothing here blocks past its deadline, and a lost peer is a Status, never a signal. After a
// failure other than timed_out the connection is of no use any more.
class UnixSocket {
 public:
  // A name is a path, or "@" and a name that lives in no file system. Waits until somebody listens there; what cannot
  // become true by waiting (no directory, no permission, too long a name) fails at once.
  static Result<UnixSocket> connect(std::string_view name, SocketKind kind, Deadline deadline);
  // nullopt: the queue of the listener is full, try again later. peer_lost: nobody listens.
  static Result<std::optional<UnixSocket>> try_connect(std::string_view name, SocketKind kind);
  explicit UnixSocket(FileDescriptor fd) : fd_(std::move(fd)) {}  // connected and non-blocking

  Status send_all(std::span<const std::byte> bytes, Deadline deadline);  // of a packet socket: as one packet
  // Of a packet socket: the next packet, which must have that size. After a timeout part of it may have been taken.
  Status receive_exactly(std::span<std::byte> bytes, Deadline deadline);
  // The next packet and its size; a larger one than the space is a failure. Only of packet sockets.
  Result<std::size_t> receive_packet(std::span<std::byte> space, Deadline deadline);

  // As much as goes without waiting; 0 when nothing does. `bytes` is not empty. peer_lost when the other end is closed.
  Result<std::size_t> try_send(std::span<const std::byte> bytes);
  Result<std::size_t> try_receive(std::span<std::byte> bytes);
  // A packet with one descriptor, which the other side gets as its own. False: it cannot be sent now. Only of packet
  // sockets.
  Result<bool> try_send_packet(std::span<const std::byte> bytes, int descriptor);
  // nullopt: nothing is there yet. A failure when the other side closed, or sent more than `bytes_max` or anything but
  // one descriptor; what else came with it is closed.
  struct Packet {
    Bytes bytes;
    FileDescriptor descriptor;
  };
  Result<std::optional<Packet>> try_receive_packet(std::size_t bytes_max);
  // timed_out at the deadline.
  Status wait_readable(Deadline deadline);
  Status wait_writable(Deadline deadline);

  // Who connected, or who called listen, vouched for by the kernel. pid 0: of another namespace.
  struct Peer {
    pid_t pid = 0;
    uid_t user = 0;
  };
  Result<Peer> peer() const;
  int descriptor() const { return fd_.get(); }

 private:
  FileDescriptor fd_;
};

// Where others connect to. A path has mode 0600 and goes away with the listener.
class UnixListener {
 public:
  // A socket that a process left behind when it was killed is replaced; where somebody still listens, or where a file
  // of another kind lies, it is a failure. The deadline is for others who are at the same path at the same time.
  static Result<UnixListener> listen(std::string_view name, SocketKind kind, Deadline deadline);

  UnixListener(UnixListener&& other) noexcept;
  UnixListener& operator=(UnixListener&& other) noexcept;
  ~UnixListener() { close(); }

  Result<UnixSocket> accept(Deadline deadline);
  Result<std::optional<UnixSocket>> try_accept();  // nullopt: nobody is waiting, or it has gone again
  void remove_path() noexcept;                     // nobody new finds it; the path only goes if it is still this one's
  void close() noexcept;
  int descriptor() const { return fd_.get(); }

 private:
  UnixListener(FileDescriptor fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}
  FileDescriptor fd_;
  std::string name_;
  std::string path_ = {};  // to remove; empty when there is none
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace tutti::os

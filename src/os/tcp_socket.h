// TCP connections that never block by themselves and name both ends in every failure.
#pragma once

#include <sys/uio.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/deadline.h"
#include "os/file_descriptor.h"
#include "os/tcp_address.h"
#include "tutti/status.h"

namespace tutti::os {

struct TcpOptions {
  // 0: the kernel chooses and lets them grow with the connection, which is best on most links.
  std::size_t send_buffer_bytes = 0;
  std::size_t receive_buffer_bytes = 0;
  // Such as "cubic"; empty or unknown to the kernel: what the machine uses.
  std::string congestion = {};
  // A connection over which nothing is acknowledged for so long, or nothing is taken, is over. 0: after many minutes,
  // and never while the other side only takes nothing.
  std::chrono::milliseconds silence_max = std::chrono::milliseconds(0);
  // The other side may be late and take nothing for long: that alone does not end the connection. Then the kernel looks
  // after connections without data on their way only; ask is_unanswered() for the others.
  bool may_take_nothing = false;
};

// One end of a connection, with TCP_NODELAY. A lost peer is a Status, never a signal. After a failure the connection
// is of no use any more.
class TcpSocket {
 public:
  // Begins to connect and returns at once. `from`: the local address to use, and so the interface; port 0.
  static Result<TcpSocket> start_connect(const TcpAddress& to, const std::optional<TcpAddress>& from,
                                         const TcpOptions& options);
  // Once the socket can be written to. False: not yet. peer_lost: nobody listens there. network: anything else.
  Result<bool> finish_connect();
  // Both, and a wait in between.
  static Result<TcpSocket> connect(const TcpAddress& to, const std::optional<TcpAddress>& from,
                                   const TcpOptions& options, Deadline deadline);

  // One system call each: as much as goes without waiting, 0 when nothing does. There is at least one byte of space or
  // data. peer_lost: the other end has closed or reset the connection; network: anything else.
  Result<std::size_t> try_read(std::span<const iovec> space);
  Result<std::size_t> try_write(std::span<const iovec> data);
  void set_options(const TcpOptions& options) noexcept;  // in the place of those it was made with
  void shutdown_write() noexcept;                        // the other end reads an end of stream after what was sent
  // Whether what was sent has waited for so long without any sign of the other machine.
  bool is_unanswered(std::chrono::milliseconds silence) const noexcept;
  std::size_t unacknowledged_bytes() const noexcept;  // that were written and may still get lost

  Status wait_readable(Deadline deadline);  // timed_out at the deadline
  Status wait_writable(Deadline deadline);

  Result<TcpAddress> local_address() const;
  const TcpAddress& peer_address() const { return peer_; }
  std::string peer_text() const { return peer_.text(); }  // who is on the other side, for messages
  int descriptor() const { return fd_.get(); }

 private:
  friend class TcpListener;
  TcpSocket(FileDescriptor fd, const TcpAddress& peer) : fd_(std::move(fd)), peer_(peer) {}
  Status failure(std::string_view doing, int error) const;

  FileDescriptor fd_;
  TcpAddress peer_;
};

class TcpListener {
 public:
  // Port 0: the kernel chooses one, see address(). "[::]:0" takes IPv4 too.
  static Result<TcpListener> listen(const TcpAddress& address, const TcpOptions& options);
  // All addresses of the machine: "[::]:port", or "0.0.0.0:port" where there is no IPv6.
  static Result<TcpListener> listen_on_all(std::uint16_t port, const TcpOptions& options);

  const TcpAddress& address() const { return address_; }
  // nullopt: nobody is waiting, or it has gone again. out_of_memory: no descriptor is free; try again later.
  Result<std::optional<TcpSocket>> try_accept();
  Result<TcpSocket> accept(Deadline deadline);
  int descriptor() const { return fd_.get(); }

 private:
  TcpListener(FileDescriptor fd, const TcpAddress& address, TcpOptions options)
      : fd_(std::move(fd)), address_(address), options_(std::move(options)) {}

  FileDescriptor fd_;
  TcpAddress address_;
  TcpOptions options_;
};

}  // namespace tutti::os

// A connected, authenticated stream of bytes between two processes of a job, plain or encrypted.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/deadline.h"
#include "os/tcp_socket.h"
#include "rpc/tls.h"
#include "tutti/status.h"

namespace tutti::rpc {

class Conduit {
 public:
  explicit Conduit(os::TcpSocket socket) : socket_(std::move(socket)) {}

  // As much as goes without waiting, 0 when nothing does; there is at least one byte of space or data. The end of the
  // stream is peer_lost, "closed by ...". A plain conduit makes one system call. An encrypted one may hold bytes that
  // polling does not announce: after a read that filled all its space, read again before polling.
  Result<std::size_t> read(std::span<const iovec> space) {
    return tls_ == nullptr ? socket_.try_read(space) : tls_->read(socket_, space);
  }
  // What an encrypted conduit has taken may still have to be written, see wants_write().
  Result<std::size_t> write(std::span<const iovec> data) {
    return tls_ == nullptr ? socket_.try_write(data) : tls_->write(socket_, data);
  }
  // True: poll for writing and flush() when it is possible, even when there is nothing new to write. Never when plain.
  bool wants_write() const { return tls_ != nullptr && tls_->wants_write(); }
  Status flush() { return tls_ == nullptr ? Status() : tls_->flush(socket_); }
  bool has_buffered() const { return tls_ != nullptr && tls_->has_buffered(); }

  // Everything, or a failure; timed_out at the deadline, after which the conduit is of no use.
  Status read_exactly(std::span<std::byte> space, Deadline deadline);
  Status write_all(std::span<const std::byte> data, Deadline deadline);

  void set_options(const os::TcpOptions& options) noexcept { socket_.set_options(options); }
  void shutdown_write() noexcept { socket_.shutdown_write(); }  // after what was written; nothing can be written then
  bool is_encrypted() const { return tls_ != nullptr; }
  int fd() const { return socket_.descriptor(); }
  std::string peer_text() const { return socket_.peer_text(); }
  const os::TcpSocket& socket() const { return socket_; }

 private:
  friend class Greeting;
  os::TcpSocket socket_;
  std::unique_ptr<Tls> tls_;  // null: plain
};

}  // namespace tutti::rpc

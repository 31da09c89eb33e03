// TLS 1.3 with a pre-shared key and no certificates, over a socket that never blocks.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>

#include "base/bytes.h"
#include "os/tcp_socket.h"
#include "rpc/handshake.h"
#include "rpc/secret.h"
#include "tutti/status.h"

struct ssl_ctx_st;
struct ssl_st;
struct bio_method_st;

namespace tutti::rpc {

// What all encrypted connections of a process share. May be used by several threads.
class TlsContext {
 public:
  static Result<std::shared_ptr<const TlsContext>> create();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  ~TlsContext();

 private:
  friend class Tls;
  TlsContext() = default;
  ssl_ctx_st* context_ = nullptr;
  bio_method_st* socket_method_ = nullptr;
};

// The encryption of one connection. Every call takes the same socket, which its owner may move in between.
class Tls {
 public:
  static Result<std::unique_ptr<Tls>> create(std::shared_ptr<const TlsContext> context, Role role, const Secret& key);
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;
  ~Tls();

  Result<bool> handshake(os::TcpSocket& socket);  // false: not yet
  Result<std::size_t> read(os::TcpSocket& socket, std::span<const iovec> space);
  Result<std::size_t> write(os::TcpSocket& socket, std::span<const iovec> data);
  Status flush(os::TcpSocket& socket);  // as far as it goes, see wants_write()
  bool wants_write() const { return wants_write_ || staged_from_ < staged_.size(); }
  bool has_buffered() const;

 private:
  friend struct SocketMethod;
  Tls(std::shared_ptr<const TlsContext> context, const Secret& key) : context_(std::move(context)), key_(key) {}
  // What the last call on the connection means; false: it has to be made again when the socket is ready.
  Result<bool> outcome_of(int result);

  std::shared_ptr<const TlsContext> context_;  // shared: connections outlive the courier that made them
  Secret key_;
  ssl_st* connection_ = nullptr;
  os::TcpSocket* socket_ = nullptr;  // during a call
  Status failure_;                   // of the socket, the first
  Bytes staged_;                     // one record that has been taken from the caller and may not have gone yet
  std::size_t staged_from_ = 0;
  bool wants_write_ = false;
};

}  // namespace tutti::rpc

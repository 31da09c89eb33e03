// Takes a fresh connection through the handshake, encryption and the announcement of its purpose, without blocking.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/world.h"
#include "os/tcp_socket.h"
#include "rpc/conduit.h"
#include "rpc/handshake.h"
#include "rpc/secret.h"
#include "rpc/tls.h"
#include "tutti/status.h"

namespace tutti::rpc {

// What a data connection is for, in the words of those who use it. The first bytes after the proofs.
inline constexpr std::size_t kAnnouncementBytesMax = 256;

// What a process shows of itself to others of its job.
struct Credentials {
  static Result<Credentials> create(const Secret& secret, Encryption encryption, ActorId id);
  Secret secret;
  std::shared_ptr<const TlsContext> tls;  // null: nothing is encrypted; shared with the connections that use it
  ActorId id;
};

// An authenticated connection.
struct Greeted {
  Hello peer;
  Bytes announcement;  // of a data connection
  Conduit conduit;
};

class Greeting {
 public:
  // As the one who has connected. The socket is connected; the announcement is for data connections.
  static Result<Greeting> of_connector(os::TcpSocket socket, const Credentials& credentials, Purpose purpose,
                                       Bytes announcement);
  static Result<Greeting> of_acceptor(os::TcpSocket socket, const Credentials& credentials);

  // As far as it goes without waiting; true: it is done. A failure is the end.
  Result<bool> advance();
  bool wants_write() const { return !output_.empty() || conduit_.wants_write(); }
  Fault fault() const { return fault_ != Fault::none ? fault_ : handshake_.fault(); }
  const Hello& peer() const { return handshake_.peer(); }  // of one that has been heard
  bool has_heard_peer() const { return handshake_.stage() > Handshake::Stage::hello; }
  int fd() const { return conduit_.fd(); }
  std::string peer_text() const { return conduit_.peer_text(); }

  Greeted take() &&;  // once it is done

 private:
  Greeting(os::TcpSocket socket, const Credentials& credentials, const Hello& self, Bytes announcement);
  Status flush();
  Result<bool> encrypt();
  Result<Bytes> read(std::size_t count_max);
  Status take_handshake_bytes(const Bytes& bytes);
  Status take_announcement_bytes(const Bytes& bytes);
  std::size_t announcement_bytes_wanted() const;
  Status fail(Fault fault, const Status& why);

  std::shared_ptr<const TlsContext> tls_;
  Role role_;
  Handshake handshake_;
  Conduit conduit_;
  Bytes announcement_;  // of the connector: with its length in front, until it is sent
  Bytes output_;
  Fault fault_ = Fault::none;
};

}  // namespace tutti::rpc

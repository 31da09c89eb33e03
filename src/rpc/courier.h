// The world as it is: actors of this process talk with those of others over authenticated TCP connections.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/world.h"
#include "os/tcp_socket.h"
#include "rpc/conduit.h"
#include "rpc/counters.h"
#include "rpc/handshake.h"
#include "rpc/secret.h"
#include "tutti/status.h"

namespace tutti::rpc {

using Service = std::uint16_t;

struct CourierOptions {
  Secret secret;
  Encryption encryption = Encryption::off;  // the same in all processes of a job
  ActorId id = {};                          // 0: drawn at random
  // Where others connect to, such as "10.0.0.1:0"; port 0: any that is free. Empty: all addresses of the machine.
  std::vector<std::string> listen = {};
  std::optional<std::string> connect_from = {};  // the local address of outgoing connections, such as "10.0.0.1"
  os::TcpOptions control = {.silence_max = std::chrono::seconds(10)};
  os::TcpOptions data = {};  // a rank may be late and take nothing for long: no limit to silence by itself
  // Limits; the values are for tests.
  std::size_t visitors_max = 64;  // unauthenticated connections at a time; the oldest goes first
  std::chrono::nanoseconds greeting_time = std::chrono::seconds(5);
  std::chrono::nanoseconds connect_time = std::chrono::seconds(5);
  std::size_t queue_bytes_max = std::size_t{64} << 20;  // for one peer; beyond it the peer is lost
};

// What a data connection needs beside the contact.
struct DataCall {
  Bytes announcement = {};               // at most kAnnouncementBytesMax: the first thing the other side hears
  std::optional<std::string> from = {};  // the local address to use, such as "10.0.0.1"; it decides the interface
  std::function<bool()> is_wanted = {};  // asked now and then; once it is not, the attempt ends; empty: it is
};

// One per process: one thread, one port, one ActorId. Actors share it as services: a message goes to the service of the
// same number at the peer. lost() is heard by every service that has sent to a peer, or heard from it, since it last
// forgot it.
class Courier {
 public:
  static Result<std::unique_ptr<Courier>> start(const CourierOptions& options);
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;
  // Sends what is queued for at most 200 ms, then closes everything. All worlds are gone before.
  ~Courier();

  ActorId id() const;
  // Where it listens, each with its port. After listening on all addresses: "[::]:port" or "0.0.0.0:port", of which the
  // caller makes addresses that others can reach.
  const std::vector<std::string>& addresses() const;
  Contact contact() const { return {id(), addresses()}; }

  // The world of one actor, which is called on the courier's thread from now on. Destroying the world ends that: after
  // it no call comes any more, and none is running unless it is the caller. Its methods belong to the courier's thread;
  // to have it before the first call, attach inside run(). From any thread.
  Result<std::unique_ptr<World>> attach(Service service, Actor& actor);

  void post(std::function<void()> function);        // on the courier's thread, soon; from any thread
  void run(const std::function<void()>& function);  // and waits for its end; at once when called on that thread

  // Blocks until the other side has proved itself. peer_lost: the actor has ended; network: nobody knows; timed_out.
  // From any thread but the courier's.
  Result<Conduit> connect_data(const Contact& to, const DataCall& call, Deadline deadline);
  // Who gets the data connections of others, on the courier's thread, authenticated and with their announcement.
  using DataHandler = std::function<void(ActorId from, Bytes announcement, Conduit conduit)>;
  void on_data(DataHandler handler);  // from any thread; empty: they are closed

  Counters counters();  // from any thread

 private:
  class Core;
  explicit Courier(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace tutti::rpc

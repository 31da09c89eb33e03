// What the control plane knows of the world: time, chance, and messages to other actors. Everything that ranks agree on
// (who is there, who has died, who goes on) is an Actor, so that it runs on real sockets and in a simulation alike.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "tutti/status.h"

namespace tutti {

// Drawn at random when an actor begins: a process that takes the place of another is somebody else.
struct ActorId {
  std::uint64_t value = 0;
  auto operator<=>(const ActorId&) const = default;
};

// How to reach an actor. Addresses such as "10.0.0.1:4000" and "[fd00::1]:4000", the best first; none: only over a
// connection that the actor itself has made.
struct Contact {
  ActorId id;
  std::vector<std::string> addresses;
  bool operator==(const Contact&) const = default;
};

// Called by one actor, on the thread that calls the actor.
class World {
 public:
  virtual ~World() = default;
  virtual Time now() = 0;
  virtual std::uint64_t random() = 0;
  // Messages to one actor arrive whole and in order, or are lost with all that follow until the sender hears lost().
  // Never blocks and never calls back: what is known to be lost is told later.
  virtual void send(const Contact& to, std::vector<std::byte> message) = 0;
  // Asks for one wake() at that time. The last request counts.
  virtual void wake_at(Time time) = 0;
  // Nothing more is expected from that actor: what keeps a connection to it may go, after what was sent.
  virtual void forget(ActorId actor) = 0;
};

class Actor {
 public:
  virtual ~Actor() = default;
  virtual void receive(ActorId from, std::span<const std::byte> message) = 0;
  // The connection is gone, or could not be made: what was sent and not answered may or may not have arrived.
  // peer_lost: nobody listens at any of the addresses, so the actor has ended. network: nobody knows.
  virtual void lost(ActorId actor, const Status& why) = 0;
  virtual void wake() = 0;
};

}  // namespace tutti

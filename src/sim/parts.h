// What the simulated world is made of: processes, connections between them, and cuts.
#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "sim/world.h"

namespace tutti::sim {

inline std::uint64_t key_of(std::uint32_t a, std::uint32_t b) {
  return std::uint64_t{std::min(a, b)} << 32 | std::max(a, b);
}

struct World::Node {
  Contact contact;
  std::unique_ptr<Place> place;
  std::unique_ptr<Actor> actor;  // nullptr: the process has ended
  bool is_hung = false;
  std::vector<Event> kept;  // while it hangs
  std::uint64_t wake_number = 0;
  int slowness = 1;
  std::set<std::uint32_t> peers;  // with whom it has a connection
  Traffic traffic;
};

struct World::Connection {
  struct Side {
    Time last_arrival;  // of what this end has said
    std::uint32_t in_flight = 0;
    bool vanishes = false;  // what this end says gets lost
    bool has_forgotten = false;
    std::vector<std::shared_ptr<const Bytes>> queue;  // until it is open
  };
  std::uint64_t number = 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  bool is_open = false;
  bool is_breaking = false;
  Side sides[2];

  Side& of(std::uint32_t node) { return sides[node == low ? 0 : 1]; }
  std::uint32_t other(std::uint32_t node) const { return node == low ? high : low; }
};

struct World::Cut {
  std::set<std::uint32_t> from;
  std::set<std::uint32_t> to;
};

// The world as one actor sees it.
class World::Place final : public tutti::World {
 public:
  Place(sim::World& world, std::uint32_t node, std::uint64_t seed) : world_(world), node_(node), random_(seed) {}

  Time now() override { return world_.now_; }
  std::uint64_t random() override { return random_.next(); }
  void send(const Contact& to, Bytes message) override { world_.send(node_, to, std::move(message)); }
  void wake_at(Time time) override { world_.wake_at(node_, time); }
  void forget(ActorId actor) override { world_.forget(node_, actor); }

 private:
  sim::World& world_;
  std::uint32_t node_;
  Random random_;
};

}  // namespace tutti::sim

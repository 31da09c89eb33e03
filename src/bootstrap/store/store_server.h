// The store of a meeting point: an actor that keeps the keys and answers calls from other hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "base/world.h"
#include "bootstrap/store/call.h"
#include "bootstrap/store/table.h"
#include "bootstrap/store/waits.h"

namespace tutti::bootstrap {

// A change takes effect once, however often its call comes: until the client says that it has the answer, the server
// remembers that the change was made. Reading again does no harm, and neither does a change that had no effect.
class StoreServer final : public Actor {
 public:
  struct Limits {
    std::size_t clients = std::size_t{1} << 16;
    std::size_t waits = std::size_t{1} << 18;       // of all clients together
    std::size_t remembered = std::size_t{1} << 20;  // changes, of all clients together
  };
  explicit StoreServer(World& world) : StoreServer(world, Limits{}) {}
  StoreServer(World& world, const Limits& limits) : world_(world), limits_(limits) {}

  void receive(ActorId from, std::span<const std::byte> message) override;
  void lost(ActorId actor, const Status& why) override;
  void wake() override;

  // For the process that keeps the store. A wait for a key that is not there is answered at once: absent.
  Reply ask_here(const Request& request);

  bool is_unused() const { return present_count_ == 0; }  // nobody is connected who has asked for anything

 private:
  struct Client {
    bool is_present = false;
    std::uint64_t oldest = 0;
    std::map<std::uint64_t, std::int64_t> made = {};  // changes by their numbers; of add the sum
  };

  Client* client_of(ActorId id);  // nullptr: there is no room for another one
  bool make_room();
  void erase(std::map<ActorId, Client>::iterator client);
  void acknowledge(Client& client, std::uint64_t oldest);
  Status check_room(ActorId from, const Client& client) const;
  void take(ActorId from, Client& client, const StoreCall& call);
  void start_wait(ActorId from, const StoreCall& call);
  void answer_waiting(std::string_view key);
  void answer(const CallId& call, Reply reply);
  void wake_in_time();

  World& world_;
  const Limits limits_;
  Table table_;
  Waits waits_;
  std::map<ActorId, Client> clients_;
  std::size_t present_count_ = 0;
  std::size_t remembered_count_ = 0;
};

}  // namespace tutti::bootstrap

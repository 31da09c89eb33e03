// One process that uses the store of a meeting point, as an actor: asks, and asks again when a connection is lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "base/world.h"
#include "bootstrap/store/call.h"

namespace tutti::bootstrap {

class StoreClient final : public Actor {
 public:
  using Done = std::function<void(Result<Reply>)>;
  struct Patience {
    Deadline wait;   // of a wait: the reply is `absent` when it has passed
    Deadline reply;  // when there is no reply at all, the call fails
  };

  StoreClient(World& world, Contact server) : world_(world), server_(std::move(server)) {}

  // `done` is called once, on the thread of the world, perhaps before this returns.
  void ask(Request request, const Patience& patience, Done done);

  void receive(ActorId from, std::span<const std::byte> message) override;
  void lost(ActorId actor, const Status& why) override;
  void wake() override;

 private:
  struct Pending {
    Request request;
    Patience patience;
    Done done;
  };
  using Calls = std::map<std::uint64_t, Pending>;

  void send(const Calls::value_type& call);
  void finish(Calls::node_type call, Result<Reply> result);
  Status no_answer() const;
  void wake_in_time();

  World& world_;
  const Contact server_;
  Calls calls_;  // under way
  std::uint64_t next_number_ = 1;
  std::optional<Time> retry_at_ = {};  // the connection is gone; until then nothing is sent
  std::chrono::nanoseconds retry_pause_{0};
  Status doubt_ = {};  // why it went
};

}  // namespace tutti::bootstrap

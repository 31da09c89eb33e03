// An actor at its place with a courier: made and destroyed on the courier's thread, where all its methods are called.
#pragma once

#include <memory>
#include <utility>

#include "base/world.h"
#include "rpc/courier.h"

namespace tutti::bootstrap {

// An actor is made with its world, which a courier gives only to an actor: this one stands in between.
template <class A>
class Attachment final : private Actor {
 public:
  // `make(world)` returns the actor.
  template <class Make>
  static Result<std::unique_ptr<Attachment>> create(rpc::Courier& courier, rpc::Service service, const Make& make) {
    auto attachment = std::unique_ptr<Attachment>(new Attachment(courier));
    Status status;
    courier.run([&] {
      auto world = courier.attach(service, *attachment);
      if (!world) {
        status = world.status();
        return;
      }
      attachment->world_ = *std::move(world);
      attachment->actor_ = make(*attachment->world_);
    });
    TUTTI_TRY(status);
    return attachment;
  }
  ~Attachment() override {
    courier_.run([this] {
      actor_.reset();
      world_.reset();
    });
  }

  // On the courier's thread only.
  A& actor() { return *actor_; }

 private:
  explicit Attachment(rpc::Courier& courier) : courier_(courier) {}
  void receive(ActorId from, std::span<const std::byte> message) override {
    if (actor_ != nullptr) actor_->receive(from, message);
  }
  void lost(ActorId actor, const Status& why) override {
    if (actor_ != nullptr) actor_->lost(actor, why);
  }
  void wake() override {
    if (actor_ != nullptr) actor_->wake();
  }

  rpc::Courier& courier_;
  std::unique_ptr<World> world_;
  std::unique_ptr<A> actor_;
};

}  // namespace tutti::bootstrap

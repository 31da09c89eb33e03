// One actor that is several: a process meets, joins and is a member under one identity, over the same connections.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/world.h"
#include "bootstrap/membership/meeting_message.h"

namespace tutti::bootstrap {

enum class Part : std::uint8_t { meeting, joiner, member };
inline constexpr std::size_t kPartCount = 3;

// Messages go to the part that their first byte belongs to; who is forgotten by all parts is forgotten. What a part
// sends to itself or to another part of this actor arrives like anything else.
class Switchboard final : public Actor {
 public:
  Switchboard(World& world, ActorId self);
  ~Switchboard() override;

  // What the actor of that part is made with.
  World& world_of(Part part);
  // Replaces the actor of that part; nullptr: there is none. Not from inside that actor's own methods.
  void set(Part part, std::unique_ptr<Actor> actor);

  void receive(ActorId from, std::span<const std::byte> message) override;
  void lost(ActorId actor, const Status& why) override;
  void wake() override;

 private:
  class Line;
  void wake_in_time();

  World& world_;
  ActorId self_;
  std::array<std::unique_ptr<Line>, kPartCount> lines_;
  std::array<std::unique_ptr<Actor>, kPartCount> actors_;
  std::vector<Bytes> to_self_;
  std::map<ActorId, std::uint8_t> wanted_;  // by which parts, one bit each
};

}  // namespace tutti::bootstrap

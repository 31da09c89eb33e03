// Some ranks of a job, those of one communicator, that agree among themselves on who of them is left while the others
// go on as before.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "base/deadline.h"
#include "base/world.h"
#include "bootstrap/membership/joiner.h"
#include "bootstrap/membership/member_message.h"
#include "bootstrap/membership/roster.h"
#include "bootstrap/membership/shrink.h"
#include "tutti/status.h"

namespace tutti::bootstrap {

// It has epochs and ranks of its own, and knows its ranks by their actors: the job may shrink meanwhile.
class Circle final : private Shrink::Side {
 public:
  using Sink = std::function<void(Result<Joined>)>;

  // What it needs of the member that it belongs to.
  class Host {
   public:
    virtual ~Host() = default;
    virtual void tell_actor(ActorId to, MemberMessage message) = 0;
    virtual bool has_ended(ActorId actor) const = 0;  // for certain
    virtual bool is_silent(ActorId actor) const = 0;
    virtual void learn_ended(ActorId actor, ActorId by) = 0;  // note_ended() follows, of every circle
  };

  Circle(World& world, Host& host, std::uint64_t name, Roster roster, ActorId self);

  // As Member::shrink, among these ranks.
  void shrink(Deadline deadline, Sink sink);
  void hear(ActorId from, const MemberMessage& message);
  void note_ended(ActorId actor);
  void look();
  Time next() const;  // when to look again
  // Nothing is agreed on any more.
  void end(const Status& why);

 private:
  void tell(Rank rank, MemberBody body) override;
  const std::set<Rank>& certain() const override { return certain_; }
  bool is_silent(Rank rank) const override { return host_.is_silent(actor_of(rank)); }
  void learn_certain(const RankList& ranks, Rank by) override;
  void decided(const Chosen& chosen) override { follow(roster_.epoch, chosen); }
  void failed(Status why) override;

  ActorId actor_of(Rank rank) const { return roster_.ranks[static_cast<std::size_t>(rank)].contact.id; }
  void begin_epoch(Roster roster);
  void tell_decision(ActorId to);
  void follow(std::uint64_t epoch, const Chosen& chosen);

  World& world_;
  Host& host_;
  std::uint64_t name_;
  ActorId self_;
  Roster roster_;
  std::set<Rank> certain_;
  std::unique_ptr<Shrink> shrink_;
  std::unique_ptr<Shrink> former_;  // the one that has just decided, while it is still on the stack
  Sink sink_;
  std::optional<MemberMessage> decision_;  // the latest: for those who ask from before it
  std::optional<MemberMessage> unasked_;   // one that came while nobody asked for it
  Status over_;                            // why this rank takes part no more
};

}  // namespace tutti::bootstrap

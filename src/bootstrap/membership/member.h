// One rank of a running job as the others know it: it notices who dies or falls silent, spreads news, answers
// questions, and agrees with the survivors on who goes on.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/world.h"
#include "bootstrap/membership/circle.h"
#include "bootstrap/membership/joiner.h"
#include "bootstrap/membership/member_message.h"
#include "bootstrap/membership/notices.h"
#include "bootstrap/membership/roster.h"
#include "bootstrap/membership/shrink.h"

namespace tutti::bootstrap {

struct Departure {
  Rank rank = kNoRank;  // the own rank: the others do not hear this one any more
  GoneKind kind = GoneKind::dead;
  Rank by = kNoRank;  // who has noticed
  std::string sentence;
};

// Called from inside the member's methods. It may call the member, but must not destroy it there.
class MemberOwner {
 public:
  virtual ~MemberOwner() = default;
  // Once for every rank; twice for one that was silent and turns out to be dead or to have left.
  virtual void on_gone(const Departure& departure) = 0;
  virtual void on_notice(Rank from, std::span<const std::byte> bytes) = 0;
  // At once, and without waiting for anything. The same question may come twice when an answer got lost.
  virtual Bytes on_question(Rank from, std::span<const std::byte> bytes) = 0;
};

// Keeps connections to a logarithm of the ranks. Others are made when they are needed and go when they are idle.
class Member final : public Actor, private Shrink::Side, private Circle::Host {
 public:
  struct Settings {
    std::chrono::nanoseconds heartbeat = std::chrono::seconds(1);
    std::chrono::nanoseconds silence = std::chrono::seconds(10);  // after so long without a sign, a rank is silent
    std::chrono::nanoseconds idle = std::chrono::seconds(10);     // after so long without use, a connection goes
  };
  using AnswerSink = std::function<void(Result<Bytes>)>;
  using ShrinkSink = std::function<void(Result<Joined>)>;

  Member(World& world, MemberOwner& owner, Roster roster, Rank rank, Settings settings);
  Member(World& world, MemberOwner& owner, Roster roster, Rank rank)
      : Member(world, owner, std::move(roster), rank, Settings()) {}
  ~Member() override;

  void receive(ActorId from, std::span<const std::byte> message) override;
  void lost(ActorId actor, const Status& why) override;
  void wake() override;

  const Roster& roster() const { return roster_; }
  Rank rank() const { return self_; }

  // Reaches every rank that lives and is connected, also past broken links; at most kNoticeBytesMax.
  Status flood(std::span<const std::byte> bytes);
  // The sink is called once: with the answer, or with why there is none (its end, the deadline). At most
  // kAnswerBytesMax either way.
  void ask(Rank rank, std::span<const std::byte> bytes, Deadline deadline, AnswerSink sink);
  // Every rank that goes on calls this. The sink is called once: with the roster of the next epoch, which this
  // member is of from then on (survivors in the order of their old ranks), or with a sentence. Who has died while they
  // agreed may be in it; on_gone then tells that at once, and the next shrink drops it.
  void shrink(Deadline deadline, ShrinkSink sink);
  // The same among the ranks of a roster, which bears that name on all of them and is not 0: of these, every one that
  // goes on calls it. The next call of that name goes on from what was agreed on; its roster does not matter.
  void shrink_circle(std::uint64_t name, const Roster& roster, Deadline deadline, ShrinkSink sink);
  // Says goodbye, so that nobody takes the end of this process for a death. Nothing is done afterwards.
  void leave();

 private:
  struct Edge {
    Time heard;
    Time say_at;
    bool needs_news = true;  // something may have got lost: repeat all that matters
  };
  struct Asked {
    Rank rank = kNoRank;
    Bytes question;
    Deadline deadline;
    Time send_at;
    Time began;
    AnswerSink sink;
  };

  // Shrink::Side
  void tell(Rank rank, MemberBody body) override;
  const std::set<Rank>& certain() const override { return certain_; }
  bool is_silent(Rank rank) const override { return gone_.contains(rank) && !certain_.contains(rank); }
  void learn_certain(const RankList& ranks, Rank by) override;
  void decided(const Chosen& chosen) override;
  void failed(Status why) override;

  // Circle::Host
  void tell_actor(ActorId to, MemberMessage message) override;
  bool has_ended(ActorId actor) const override { return ended_.contains(actor); }
  bool is_silent(ActorId actor) const override;
  void learn_ended(ActorId actor, ActorId by) override;
  void hear_in_circle(ActorId from, const MemberMessage& message);
  void note_ended(ActorId actor);

  const Contact& contact_of(Rank rank) const { return roster_.ranks[static_cast<std::size_t>(rank)].contact; }
  void begin_epoch();
  void send(Rank rank, const MemberMessage& message);
  void hear(Rank from, const MemberBody& body);
  void heard_gone(Rank from, const Gone& gone);
  void spread(const MemberBody& body, Rank except);
  void note_gone(Gone gone, Rank from);
  std::string sentence_of(const Gone& gone) const;
  void choose_neighbours();
  void watch_neighbours();
  void repeat_news(Rank rank);
  void answered(Rank from, const Answer& answer);
  void look_at_questions();
  void fail_questions(const std::function<bool(const Asked&)>& which, const std::function<Status(const Asked&)>& why);
  void look_at_guests();
  void answer_stranger(ActorId from, std::uint64_t epoch);
  void answer_other_epoch(Rank from, std::uint64_t epoch);
  // Shrinking can pass through an epoch whose ranks the owner has never heard of; it is told nothing in their terms.
  bool owner_knows() const { return owner_epoch_ == roster_.epoch; }
  void follow(std::uint64_t epoch, const Chosen& chosen);
  void install(Roster roster, const std::vector<ActorId>& ended);
  void deliver();
  void put_out(const Chosen& chosen);
  bool is_over() const { return !over_; }
  void wake_in_time();

  World& world_;
  MemberOwner& owner_;
  Roster roster_;
  Rank self_;
  Settings settings_;
  std::map<ActorId, Rank> rank_of_;
  Status over_;  // why this rank takes part no more: has left, or was left out
  std::map<Rank, Gone> gone_;
  std::set<Rank> certain_;                                    // those of them that are not merely silent
  std::set<ActorId> ended_;                                   // those of all epochs
  std::map<std::uint64_t, std::unique_ptr<Circle>> circles_;  // that were ever shrunk: others may still ask
  std::map<Rank, Edge> edges_;
  std::map<Rank, Time> guests_;  // who else there is a connection to, and when it was used last
  Notices notices_;
  std::uint64_t notice_count_ = 0;
  std::map<std::uint64_t, Asked> asked_;
  std::uint64_t ask_count_ = 0;
  std::unique_ptr<Shrink> shrink_;
  std::unique_ptr<Shrink> former_;  // the one that has just decided, while it is still on the stack
  ShrinkSink shrink_sink_;
  std::optional<MemberMessage> decision_;  // the latest: for those who ask from before it
  std::optional<MemberMessage> unasked_;   // one that came while the owner did not ask for it
  std::uint64_t owner_epoch_ = 0;          // of the roster that the owner has
  bool looks_soon_ = false;                // somebody has gone: that may decide something
  Time wake_planned_ = Deadline::never().at;
};

}  // namespace tutti::bootstrap

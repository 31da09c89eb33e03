// How survivors agree on who is left, although messages get lost and coordinators die. docs/adr/0019 has the argument.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/world.h"
#include "bootstrap/membership/member_message.h"
#include "bootstrap/membership/roster.h"
#include "tutti/status.h"

namespace tutti::bootstrap {

// A set of ranks may decide when it holds all but those that have ended for certain, more than half of all, or exactly
// half and rank 0. Two such sets share a rank, unless one of them has ended as a whole.
bool may_decide(const std::set<Rank>& ranks, Rank size, const std::set<Rank>& certain);

// One rank's part in one decision: the roster that follows that of one epoch.
class Shrink {
 public:
  // What it needs of the member whose part it is.
  class Side {
   public:
    virtual ~Side() = default;
    virtual void tell(Rank rank, MemberBody body) = 0;
    virtual const std::set<Rank>& certain() const = 0;               // ranks that have ended
    virtual bool is_silent(Rank rank) const = 0;                     // more likely not to answer than others
    virtual void learn_certain(const RankList& ranks, Rank by) = 0;  // makes certain() hold them
    virtual void decided(const Chosen& chosen) = 0;  // the last thing that is called; may end this object
    virtual void failed(Status why) = 0;             // as well
  };

  Shrink(World& world, Side& side, const Roster& roster, Rank self)
      : world_(world), side_(side), roster_(roster), self_(self) {}

  // The owner takes part until the deadline. What was promised before holds.
  void call(Deadline deadline);
  bool is_called() const { return is_called_; }
  Deadline deadline() const { return deadline_; }

  void hear(Rank from, const MemberBody& body);  // lets pass what is not for it
  void look();                                   // somebody has ended, or time has passed
  Time next() const;                             // when to look again; only while called
  std::set<Rank> followers() const;              // who waits for this rank's word, because it coordinates

 private:
  void take(Rank from, const Prepare& prepare);
  void take(Rank from, const Promise& promise);
  void take(Rank from, const NotCalled& not_called);
  void take(Rank from, const Outvoted& outvoted);
  void take(Rank from, const Accept& accept);
  void take(Rank from, const Accepted& accepted);
  void take(Rank from, const Standing& standing);

  enum class Phase : std::uint8_t { waiting, preparing, accepting };

  RankList certain_list() const;
  std::set<Rank> alive() const;
  void coordinator_is(Ballot ballot);
  void wait_for_coordinator();
  void begin_round();
  void repeat();
  void look_at_promises();
  void propose();
  void send_accept();
  void look_at_acceptances();
  void announce();
  Standing standing() const;
  Status too_late() const;

  World& world_;
  Side& side_;
  const Roster& roster_;
  Rank self_;
  bool is_called_ = false;
  Time called_;
  Deadline deadline_ = Deadline::never();

  // As one who votes.
  Ballot promised_;
  Ballot accepted_;
  RankList survivors_;  // of the accepted ballot

  // As one who coordinates.
  Phase phase_ = Phase::waiting;
  Time begin_at_;  // a round of one's own, when nobody else coordinates
  Time repeat_at_;
  Time phase_began_;
  Ballot ballot_;
  std::uint32_t attempt_seen_ = 0;
  std::map<Rank, Promise> promises_;
  std::map<Rank, Time> not_called_;
  RankList value_;
  std::set<Rank> acceptors_;
  std::size_t certain_sent_ = 0;

  std::optional<Standing> standing_;  // what another coordinator said last
};

}  // namespace tutti::bootstrap

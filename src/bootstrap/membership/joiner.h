// One rank on its way into a job: it tells the meeting point that it is here until it has the roster of all ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/deadline.h"
#include "base/world.h"
#include "bootstrap/exchange.h"
#include "bootstrap/membership/meeting_message.h"
#include "bootstrap/membership/roster.h"

namespace tutti::bootstrap {

struct Joined {
  Roster roster;
  Rank rank = kNoRank;
};

// Ends at its deadline at the latest, with a sentence. A rank that has the roster passes it on to a few others and must
// go on being called until is_done(), or they have to get it from the meeting point.
class Joiner final : public Actor {
 public:
  struct Settings {
    Contact meeting;
    std::uint64_t epoch = 0;  // 0: whichever the meeting has
    Rank rank = kNoRank;      // kNoRank: any that is free
    Rank size = 0;            // 0: whichever the meeting has
    std::string version;
    Participant self;
    Deadline deadline;
    ProgressSink progress;
    ProgressPace pace;
  };
  using Done = std::function<void(Result<Joined>)>;

  Joiner(World& world, Settings settings, Done done);

  void receive(ActorId from, std::span<const std::byte> message) override;
  void lost(ActorId actor, const Status& why) override;
  void wake() override;

  bool is_done() const { return has_ended_ && children_.empty(); }

 private:
  struct Child {
    Contact contact;
    bool has_roster = false;
    int tries = 0;
  };

  void heard(ActorId from, const Waiting& waiting);
  void heard(ActorId from, const Refused& refused);
  void heard(ActorId from, Roster roster, std::span<const std::byte> bytes);
  void heard(ActorId from, const Report& report);
  void join();
  void ask_children();
  void child_is_done(ActorId child);
  void report_to(ActorId to);
  void end(Result<Joined> result);
  std::string waiting_text() const;
  Status too_late() const;
  void wake_in_time();

  World& world_;
  Settings settings_;
  Done done_;
  Time start_;
  Time next_join_;
  Time next_progress_;
  Time next_look_;  // at the children
  int join_count_ = 0;
  int refusal_count_ = 0;         // connections that nobody took since the last answer
  std::optional<Waiting> heard_;  // the last answer of the meeting
  Status reason_;                 // why there was none since
  bool has_ended_ = false;
  std::uint64_t epoch_ = 0;        // of the roster
  std::optional<Contact> parent_;  // nullopt: the meeting
  Bytes roster_message_;
  std::map<ActorId, Child> children_;  // who do not have it all below them
};

// The tree by which the roster goes to all.
inline constexpr Rank kTreeFan = 8;
std::vector<Rank> tree_children(Rank rank, Rank size);
inline Rank tree_parent(Rank rank) { return rank == 0 ? kNoRank : (rank - 1) / kTreeFan; }

}  // namespace tutti::bootstrap

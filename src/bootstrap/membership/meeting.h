// The meeting point: where ranks that know nothing of each other say that they are here, until all are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/world.h"
#include "bootstrap/membership/meeting_message.h"
#include "bootstrap/membership/roster.h"

namespace tutti::bootstrap {

// Answers everybody who joins and forgets them at once: a rank comes again every two seconds, so nobody is kept
// connected. When all are there, rank 0 gets the roster and passes it on; those who miss it there get it when they come
// again. A mistake of one (rank, size or version) ends the meeting for all, because it cannot become complete any more.
class Meeting final : public Actor {
 public:
  struct Settings {
    std::uint64_t epoch = 1;
    Rank size = 0;  // 0: that of the first who comes
    std::string version;
    bool is_used_again = false;  // who comes when all are there comes early to the next meeting, and gets no answer
  };
  Meeting(World& world, Settings settings) : world_(world), settings_(std::move(settings)) {}

  void receive(ActorId from, std::span<const std::byte> message) override;
  void lost(ActorId actor, const Status& why) override;
  void wake() override;

  bool is_complete() const { return roster_.has_value(); }
  bool is_done() const { return is_spread_; }  // everybody has the roster: the meeting may go
  const Status& failure() const { return failure_; }

 private:
  void joined(ActorId from, const Join& join);
  Status check(const Join& join) const;
  Status check_rank(const Join& join) const;
  void refuse_all();
  void admit(const Join& join);
  void complete();
  void spread();
  Waiting waiting() const;
  void answer_after(const Join& join);
  void answer(const Contact& to, Bytes message);

  World& world_;
  Settings settings_;
  Status failure_;
  Rank size_rank_ = kNoRank;  // who came first with the size
  std::map<Rank, Participant> ranked_;
  std::vector<Participant> any_rank_;  // in the order of coming
  std::optional<Roster> roster_;
  Bytes roster_message_;
  Time completed_;
  int spread_count_ = 0;
  bool has_root_ = false;  // rank 0 has the roster
  bool is_spread_ = false;
};

}  // namespace tutti::bootstrap

// A job that starts in the simulated world: a meeting point and ranks on their way to it.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/membership/joiner.h"
#include "bootstrap/membership/meeting.h"
#include "bootstrap/membership/switchboard.h"
#include "sim/world.h"

namespace tutti::sim {

// The meeting lies in the process of rank 0, or in one of its own.
enum class MeetingPlace { rank_0, launcher };

class Start {
 public:
  struct Outcome {
    ActorId actor;
    int ends = 0;
    Status status;
    Rank rank = kNoRank;
    std::uint64_t roster_digest = 0;
    Rank roster_size = 0;
    std::vector<std::string> progress;
  };
  bool keeps_rosters = true;
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);

  Start(World& world, Rank size, MeetingPlace place) : world_(world), size_(size) {
    if (place == MeetingPlace::rank_0) return;
    meeting_contact_ = world.spawn([&](tutti::World& its, const Contact&) {
      auto meeting = std::make_unique<bootstrap::Meeting>(its, bootstrap::Meeting::Settings{1, 0, "1.0"});
      meeting_ = meeting.get();
      return meeting;
    });
  }

  // Begins a rank now. Where the meeting lies in rank 0, that is the first.
  std::size_t begin(Rank rank, Rank size, const std::string& version = "1.0") {
    const std::size_t index = outcomes.size();
    outcomes.push_back(std::make_unique<Outcome>());
    rosters.emplace_back();
    world_.spawn([&](tutti::World& its, const Contact& self) {
      auto board = std::make_unique<bootstrap::Switchboard>(its, self.id);
      outcomes[index]->actor = self.id;
      if (!meeting_contact_) {
        meeting_contact_ = self;
        auto meeting = std::make_unique<bootstrap::Meeting>(board->world_of(bootstrap::Part::meeting),
                                                            bootstrap::Meeting::Settings{1, size, "1.0"});
        meeting_ = meeting.get();
        board->set(bootstrap::Part::meeting, std::move(meeting));
      }
      auto joiner = std::make_unique<bootstrap::Joiner>(board->world_of(bootstrap::Part::joiner),
                                                        settings(index, rank, size, version, self),
                                                        [this, index](auto result) { end(index, std::move(result)); });
      board->set(bootstrap::Part::joiner, std::move(joiner));
      return board;
    });
    return index;
  }
  void begin_all() {
    for (Rank rank = 0; rank < size_; ++rank) begin(rank, size_);
  }

  bool all_ended() const { return ended_count_ == outcomes.size(); }
  const bootstrap::Meeting& meeting() const { return *meeting_; }
  ActorId meeting_actor() const { return meeting_contact_->id; }
  void set_meeting(Contact contact) { meeting_contact_ = std::move(contact); }

  std::vector<std::unique_ptr<Outcome>> outcomes;
  std::vector<std::optional<bootstrap::Roster>> rosters;

 private:
  bootstrap::Joiner::Settings settings(std::size_t index, Rank rank, Rank size, const std::string& version,
                                       const Contact& self) {
    Bytes card;
    append_number(card, static_cast<std::uint64_t>(index));
    return {.meeting = *meeting_contact_,
            .epoch = 0,
            .rank = rank,
            .size = size,
            .version = version,
            .self = {self, {fmt::format("node{}", index / 8), static_cast<std::int32_t>(100 + index)}, card},
            .deadline = Deadline::after(world_.now(), timeout),
            .progress = [this, index](std::string_view text) { outcomes[index]->progress.emplace_back(text); },
            .pace = {}};
  }
  void end(std::size_t index, Result<bootstrap::Joined> result) {
    Outcome& outcome = *outcomes[index];
    ++ended_count_;
    ++outcome.ends;
    outcome.status = result.status();
    if (!result) return;
    outcome.rank = result->rank;
    outcome.roster_size = result->roster.size();
    for (const auto& participant : result->roster.ranks)
      outcome.roster_digest = Random(outcome.roster_digest ^ participant.contact.id.value).next();
    if (keeps_rosters) rosters[index] = std::move(result->roster);
  }

  World& world_;
  Rank size_;
  std::optional<Contact> meeting_contact_;
  bootstrap::Meeting* meeting_ = nullptr;
  std::size_t ended_count_ = 0;
};

}  // namespace tutti::sim

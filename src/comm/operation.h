// One call on its way: its turn, entering, finding out whether buffers can be reached, running. Never blocks.
#pragma once

#include <optional>

#include "comm/track.h"
#include "engine/host/flash.h"
#include "engine/host/run.h"

namespace tutti::comm {

class Operation {
 public:
  // Takes its place in the order of calls. The call stays where it is until the operation has ended.
  Operation(Track& track, const Call& call) : track_(track), call_(call), number_(track.turn.take()) {}
  Operation(const Operation&) = delete;

  // True when it has ended, well or not.
  bool progress();
  // The same without looking what has come over the network, which costs a system call.
  bool progress_here() { return advance(); }
  // Ends it from outside: no step of it runs any more, and the next call gets its turn.
  void give_up();
  Status status() const { return status_; }

  const Call& call() const { return call_; }
  Track& track() const { return track_; }
  // Whom it waits for; kNoRank: an earlier call of this rank. Where it waits for several, one of them.
  Rank blocked_on() const;
  bool waits_for(Rank member) const;
  // Whether other ranks of this host may read or write this rank's buffers.
  bool is_reached() const;
  // After it has failed: somebody who may still read or write this rank's buffers; kNoRank: nobody does.
  Rank find_toucher() const;
  bool has_entered() const { return has_entered_; }
  // It has waited for long: the flight recorder shall say for whom.
  void record_waiting();
  bool is_done() const { return phase_ == Phase::ended; }
  // Grows as long as the call goes on.
  std::uint64_t steps_done() const { return run_ ? run_->steps_done() : 0; }

 private:
  enum class Phase { turn, facts, flash, run, flush, barred, ended };

  bool advance();
  bool begin();
  void choose_phase();
  bool reaches_others() const;
  Status open_links();
  bool learn_facts();
  void launch(const engine::Launch& launch);
  bool end(Status status);
  void pass_turn();
  void record(watch::CallState state);
  void record_end(watch::CallState how);

  Track& track_;
  const Call& call_;
  std::uint32_t number_;
  Phase phase_ = Phase::turn;
  const Decision* decision_ = nullptr;
  std::uint32_t own_facts_ = 0;
  std::size_t asked_ = 0;
  bool has_entered_ = false;
  std::uint32_t entered_ = 0;  // the channel's number of this call
  Rank blocked_on_ = kNoRank;
  std::optional<engine::Flash> flash_;
  std::optional<engine::Run> run_;
  Status status_;
  watch::Line line_;
};

}  // namespace tutti::comm

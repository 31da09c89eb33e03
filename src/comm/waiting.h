// How calls are waited for: a look, then others get the core, then sleep; and how waiting ends when it should.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/deadline.h"
#include "comm/lateness.h"
#include "comm/operation.h"
#include "comm/side.h"

namespace tutti::comm {

struct Pending {
  Side* side = nullptr;
  Operation* operation = nullptr;
};

// Some calls on their way to a common end. Its parts never block, so that one thread can wait for much else as well.
class Waiting {
 public:
  // The time that the calls may take begins now. What is pending outlives this.
  explicit Waiting(std::span<const Pending> pending);

  // One look. True when all have ended, well or not, and nobody else works on their buffers any more.
  bool progress();
  // Finds out why it takes so long: a rank has died, the time is up. progress() ends it then.
  void look();
  // Until something may have changed.
  void sleep(Deadline until);
  // Grows as long as the calls go on.
  std::uint64_t steps() const;
  const Status& status() const { return status_; }

  // All of this, until they have ended; the first failure.
  Status complete();

 private:
  enum class Phase : std::uint8_t { running, letting_go, ended };

  bool are_done() const;
  bool look_here() const;
  bool end(const Status& status);
  bool conclude();
  bool fail(const Status& why);
  bool let_go();
  bool has_stalled();
  std::chrono::nanoseconds waited() const;
  const Side* find_ended() const;
  void warn_of_late();
  Status find_cause() const;
  Status cause_of(const Side& side, const Operation& operation) const;
  bool has_waited_for_news() const;
  Status broken_link(const Operation& operation, Rank member) const;
  bool waits_for_network() const;
  void sleep_on_links(Deadline until) const;

  std::span<const Pending> pending_;
  Phase phase_ = Phase::running;
  Status status_;
  Time start_;
  Deadline deadline_;
  Deadline touching_ = Deadline::never();  // until when those who work on the buffers have time to stop
  bool goes_on_yielding_ = true;
  std::uint64_t steps_ = 0;
  Time moved_;  // when a step was last seen to be done
  mutable Time broken_since_;
  mutable Time gone_since_;
  std::vector<Lateness> lateness_;  // of each; none before somebody is late
};

// Until all have ended; the first failure.
Status complete(std::span<const Pending> pending);

}  // namespace tutti::comm

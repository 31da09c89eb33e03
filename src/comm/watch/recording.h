// What a flight recorder held at one moment, as a value: read from memory or from a file, written as JSON, compared.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/description.h"
#include "comm/watch/format.h"
#include "os/ticks.h"
#include "tutti/status.h"
#include "tutti/types.h"

namespace tutti::comm::watch {

std::string_view name_of(CallState state);
std::optional<CallState> call_state_of(std::string_view name);

struct RecordedMember {
  int pid = 0;
  std::string host = {};
};

struct RecordedCall {
  std::uint32_t number = 0;  // on its track, from 1; 0: it has not entered
  Rank other = kNoRank;      // of a message: the other end; kNoRank: a collective
  bool is_sender = false;    // of a message
  CallKey key = {};
  CallState state = CallState::none;
  std::uint64_t bytes = 0;
  std::string plan = {};  // empty: not known yet
  double started_s = 0;
  std::optional<double> finished_s = {};  // of calls that took long enough to read the clock
  Rank waits_for = kNoRank;

  bool is_over() const { return state == CallState::done || state == CallState::failed; }
  std::string text() const;  // "all_reduce of 1000 float32, sum", "send of 5 int32 to rank 3"
};

struct Recording {
  std::uint64_t communicator = 0;  // the same on every rank
  Rank rank = 0;
  Rank size = 0;
  int pid = 0;
  std::string host = {};
  std::string program = {};
  Life life = Life::alive;
  std::optional<Code> ended = {};
  std::string reason = {};
  double taken_s = 0;  // on the clock of the host, like all times here: never compared between hosts
  std::vector<RecordedMember> members = {};  // by rank; may be fewer than there are
  std::vector<RecordedCall> calls = {};      // by their start

  // "rank 3 (pid 4711 on node7)", as far as it is known.
  std::string name_of_rank(Rank other) const;
};

// The memory of a page, copied twice: calls that changed their place in between are left out. Nothing in it is trusted.
// nullopt: the page is not in use.
struct PageCopies {
  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> second;
};
std::optional<Recording> decode(const SegmentHead& head, const PageCopies& copies, const os::TickPoint& taken);
// Whether this is the head of a segment as this build writes it, in one sentence if not.
Status validate(const SegmentHead& head);

}  // namespace tutti::comm::watch

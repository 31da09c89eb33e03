// A plan made ready for one rank: everything that does not depend on sizes or addresses, computed once and kept.
#pragma once

#include <memory>
#include <vector>

#include "tutti/plan.h"

namespace tutti::engine {

// The how-manieth message from a rank, of those that one step takes from it, a token or the value is.
struct Take {
  Rank from = kNoRank;
  std::uint32_t ordinal = 1;
};

// What a step waits for and whom it tells, with entry tokens taken out: a token that a rank sends before it does
// anything else says "I have entered", which the channel says anyway, together with where the rank's buffers are.
struct StepPeers {
  std::vector<Rank> entries;  // have entered the call
  std::vector<Take> takes;    // tokens
  Take receive;               // the value
  std::vector<Rank> signals;
  std::vector<plan::Point> after;
};

// A pipe that carries values: which of the sender's it is, which decides where its slots are.
struct ValuePipe {
  Rank peer = kNoRank;
  std::uint32_t index = 0;
};

struct PreparedLane {
  std::vector<StepPeers> peers;  // one per step of the lane
  std::vector<ValuePipe> outgoing;
  std::vector<ValuePipe> incoming;
};

struct Prepared {
  plan::Header header;
  plan::Program program;
  std::vector<PreparedLane> lanes;
  bool only_reaches = false;                       // no tile has to fit anywhere
  std::uint32_t stage_chunks = 0;                  // most that any rank has
  std::vector<std::vector<std::uint32_t>> staged;  // per rank: which, in order; they lie one after the other
  std::uint32_t scratch_chunks = 0;                // of this rank
  std::uint32_t value_chunks = 0;                  // most that one message carries
  std::uint32_t value_pipes = 0;                   // most that leave any rank in a lane
  // Per rank: what of its buffers others touch (transport::Tag::kReachesIn, kReachesOut).
  std::vector<std::uint32_t> reached;
  // To whom this rank's entry tokens go: where memory is not shared, they have to be told.
  std::vector<Rank> greeted;
  std::vector<Rank> partners;  // with whom this rank exchanges messages or entry tokens
  // Of every rank: what others need goes to the stage, then what is needed is taken from theirs.
  bool is_one_round = false;
};

std::size_t bytes_of(const Prepared& prepared);

// The place of a stage chunk among those of its owner.
std::uint32_t stage_index(const Prepared& prepared, Rank owner, std::uint32_t chunk);

Result<std::shared_ptr<const Prepared>> prepare(const plan::Algorithm& algorithm, const plan::Shape& shape, Rank self);

}  // namespace tutti::engine

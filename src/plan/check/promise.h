// What each collective promises: which chunks a rank's buffers have, and what must be in them in the end.
#pragma once

#include "tutti/plan.h"

namespace tutti::plan {

// Whether the buffer (in or out) of a rank has this chunk.
bool has_chunk(const Header& plan, Rank owner, Buffer buffer, std::uint32_t chunk);

// What out[chunk] of a rank must hold: the sum of in[source_chunk] over all ranks, or that of one rank.
struct Promise {
  std::uint32_t source_chunk;
  Rank source;  // kNoRank: all ranks
};
Promise promise_of(const Header& plan, Rank owner, std::uint32_t chunk);

}  // namespace tutti::plan

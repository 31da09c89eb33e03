// Where the parts of a rank's memory for a communicator are, and how much each may take under a limit.
#pragma once

#include <cstddef>

#include "transport/block.h"
#include "tutti/status.h"
#include "tutti/types.h"

namespace tutti::comm {

// The block for collectives, then for each rank the two for messages to it and from it. The same on every rank.
struct SideLayout {
  // As it comes, without a limit.
  explicit SideLayout(Rank ranks = 1);
  // Of a communicator that takes no more than that on each rank; 0: without a limit. Outboxes become smaller where they
  // have to; fails where even the least that works is more. `room_ranks`: a part of a communicator of so many ranks has
  // its room before it is known how many it has.
  static Result<SideLayout> within(std::size_t limit_bytes, Rank ranks, Rank room_ranks);
  static Result<SideLayout> within(std::size_t limit_bytes, Rank ranks) { return within(limit_bytes, ranks, ranks); }
  // Room for any part of a communicator of so many ranks.
  static Result<std::size_t> room_bytes(std::size_t limit_bytes, Rank ranks);
  // The smallest limit that so many ranks can keep to.
  static std::size_t least_limit_bytes(Rank ranks);

  std::size_t pair_at(Rank other, bool is_sender) const {
    return collective.bytes() + (2 * static_cast<std::size_t>(other) + (is_sender ? 0 : 1)) * pair.bytes();
  }
  std::size_t bytes() const { return collective.bytes() + 2 * static_cast<std::size_t>(ranks) * pair.bytes(); }

  Rank ranks;
  transport::BlockShape collective;
  transport::BlockShape pair;
  // What running calls on a block may take beside it; 0: as much as they want.
  std::size_t collective_private_bytes_max = 0;
  std::size_t pair_private_bytes_max = 0;
  std::size_t tile_bytes_max = 0;  // 0: as it is best
};

}  // namespace tutti::comm

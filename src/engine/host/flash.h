// An acceleration of one-round plans for small messages: what a rank stages travels in cache lines that carry their own
// tags, so that data and signal arrive together. The steps, their order and their bits are those of the plan.
#pragma once

#include "engine/host/launch.h"
#include "engine/host/workspace.h"
#include "transport/channel.h"
#include "tutti/call.h"

namespace tutti::engine {

// Whether lines can carry a launch of this plan.
bool can_flash(const Launch& launch);

// Like Run. Sketch for two ranks and 8 bytes: each writes one line and reads one; the time is that of one line going
// from one core to another.
class Flash {
 public:
  Flash(transport::Channel& channel, Workspace& workspace, const Launch& launch, const CustomOperation* custom);

  bool progress();
  Status status() const { return status_; }
  Rank blocked_on() const { return blocked_on_; }

 private:
  bool take(Rank from);
  void publish();
  void own_next_lines();
  void compute_step(std::uint32_t index);
  const std::byte* staged_by(Rank owner) const;

  transport::Channel& channel_;
  Workspace& workspace_;
  const Launch& launch_;
  const CustomOperation* custom_;
  std::uint64_t tag_;
  std::uint64_t chunk_bytes_;  // room for a chunk among the staged ones
  std::uint32_t line_count_;   // that every staging rank fills
  std::uint32_t step_ = 0;
  std::uint32_t take_ = 0;  // of the step, the next to look at
  bool is_published_ = false;
  bool has_room_ = false;
  Rank blocked_on_ = kNoRank;
  Status status_;
};

}  // namespace tutti::engine

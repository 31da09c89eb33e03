// What one rank's side of a communicator needs from beyond its host.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "comm/links.h"
#include "tutti/status.h"

namespace tutti::comm {

class Side;

// What is known of a rank on another host.
struct Standing {
  bool is_gone = false;
  bool is_silent = false;   // gone without an end that its connections would tell of
  bool is_in_call = false;  // the one that was asked about, or a later one
  // As in "rank 3 (...), which ...": why it is gone, or what it is doing; empty: not known yet.
  std::string text = {};
};

// Who is left of a communicator, and the how-manieth agreement of its ranks says so.
struct Survivors {
  std::vector<Rank> ranks;
  std::uint64_t epoch = 0;
};

class Outside {
 public:
  virtual ~Outside() = default;
  virtual Links& links() = 0;
  // Tells the ranks on other hosts why the communicator has ended, or that this rank has left it.
  virtual void spread_end(Code code, std::string_view why) noexcept = 0;
  virtual void spread_leaving() noexcept = 0;
  virtual bool is_gone(Rank rank) const = 0;
  // What is known of a rank that is waited for in that collective call; 0: for a message. Asks it, so that the next
  // look may know more.
  virtual Standing look_at(Rank rank, std::uint32_t call) = 0;
  // What the main thread of a rank's process is doing, of this host or another. Empty: it has been asked; look again.
  virtual std::string portrait_of(Rank rank) = 0;

  // What the communicator is called everywhere; no two of a job have the same name.
  virtual std::uint64_t name() const = 0;
  // The same for a new communicator of some of these ranks.
  virtual std::unique_ptr<Outside> part(std::span<const Rank> ranks, Side& side, const Links::Shape& shape) const = 0;
  // Who goes on, as all who do agree; they all call this.
  virtual Result<Survivors> agree_on_survivors(Deadline deadline) = 0;
  // A few bytes for whoever asks, under a name, and those of another rank once it has them.
  virtual void offer(std::uint64_t name, Bytes bytes) = 0;
  virtual Result<Bytes> obtain(Rank rank, std::uint64_t name, Deadline deadline) = 0;
};

}  // namespace tutti::comm

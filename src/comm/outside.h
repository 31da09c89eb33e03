// What one rank's side of a communicator needs from beyond its host.
#pragma once

#include <string>
#include <string_view>

#include "comm/links.h"
#include "tutti/status.h"

namespace tutti::comm {

// What is known of a rank on another host.
struct Standing {
  bool is_gone = false;
  std::string text;  // as in "rank 3 (...), which ...": why it is gone, or what it is doing; empty: not known yet
};

class Outside {
 public:
  virtual ~Outside() = default;
  virtual Links& links() = 0;
  // Tells the ranks on other hosts why the communicator has ended, or that this rank has left it.
  virtual void spread_end(Code code, std::string_view why) noexcept = 0;
  virtual void spread_leaving() noexcept = 0;
  virtual bool is_gone(Rank rank) const = 0;
  // What is known of a rank that is waited for in that call. Asks it, so that the next look may know more.
  virtual Standing look_at(Rank rank, std::uint32_t call) = 0;
};

}  // namespace tutti::comm

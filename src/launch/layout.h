// Which rank runs on which host. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "launch/job.h"
#include "tutti/status.h"

namespace tutti::launch {

struct Layout {
  std::vector<Host> hosts = {};  // only those that have ranks
  std::vector<Seat> seats = {};  // by rank
  bool operator==(const Layout&) const = default;

  Rank size() const { return static_cast<Rank>(seats.size()); }
  Rank local_size(HostIndex host) const;
};

struct LayoutWish {
  Rank ranks = 0;          // 0: all slots, or what the two below make
  int ranks_per_host = 0;  // 0: as many as its slots
  int host_count = 0;      // 0: as few as needed; > 0: exactly so many of them
  bool may_oversubscribe = false;
};

// Hosts are filled in order, all slots of one before the next. Fails when there are too few slots, with both numbers.
Result<Layout> lay_out(std::span<const Host> hosts, const LayoutWish& wish);

}  // namespace tutti::launch

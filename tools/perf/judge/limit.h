// What a call of a perf tool takes at best on a machine that a topology describes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "tools/perf/judge/series.h"
#include "tutti/plan.h"
#include "tutti/status.h"
#include "tutti/topology.h"

namespace tutti::perf {

// The collective of "all_reduce", "alltoall" and so on; nothing for sendrecv, alltoallv and hypercube, whose calls are
// not one collective of the planner.
std::optional<plan::Collective> planned_collective(std::string_view name);
bool is_known_program(std::string_view name);

struct Limit {
  double time_us = 0;
  std::string plan;  // "hierarchical_ring in 2 lanes"
};

// Asks the planner, once for each different call.
class Limits {
 public:
  Limits(const topology::Topology& topology, plan::Collective collective);
  Result<Limit> of(const Series& series);

 private:
  using Call = std::tuple<std::uint64_t, std::uint32_t, int, Placement>;

  const topology::Topology& topology_;
  plan::Collective collective_;
  std::map<Call, Limit> known_;
};

}  // namespace tutti::perf

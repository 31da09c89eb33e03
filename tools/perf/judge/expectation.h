// A run against the machine that it ran on: which part of the limit was reached, and what looks wrong.
#pragma once

#include <string>
#include <vector>

#include "tools/perf/judge/series.h"
#include "tools/perf/judge/suspicion.h"
#include "tools/perf/results.h"
#include "tutti/status.h"
#include "tutti/topology.h"

namespace tutti::perf {

// The limit is what the best plan that the planner knows takes on the topology in virtual time. It is as true as the
// numbers in the topology.
struct ExpectedRow {
  Subject subject;
  double measured_us = 0;
  double limit_us = 0;
  double fraction = 0;        // limit / measured: 1 is all that the machine gives
  double bus_gbps = 0;        // measured
  double limit_bus_gbps = 0;  // 0 where the run does not say its own
  std::string plan;           // of the limit

  bool operator==(const ExpectedRow&) const = default;
};

struct Expectation {
  std::string topology;
  std::vector<ExpectedRow> rows;  // in the order of the run; empty for programs without a limit
  std::vector<Suspicion> suspicions;
  std::vector<std::string> notes;
};

// Fails if the numbers of ranks and devices differ or the program is unknown. Programs that the planner has no
// collective for get no rows, a note, and what their times alone show.
Result<Expectation> expect(const Run& run, const topology::Topology& topology);

// A table and sentences, each line beginning with "#" so that readers of nccl-tests' table skip it.
std::string text_of(const Expectation& expectation);

}  // namespace tutti::perf

// The runs of bench/compare: every contender once before any runs again, on this machine or across virtual hosts.
#pragma once

#include <string>
#include <vector>

#include "bench/comparison/contenders.h"
#include "bench/comparison/report.h"

namespace tutti::bench {

struct Schedule {
  std::vector<Rank> ranks;  // across hosts, a multiple of their number
  std::vector<plan::Collective> collectives;
  std::vector<std::uint64_t> sizes;
  std::vector<Contender> contenders;
  Network network;
  int repeats;
  double seconds;
  double limit_s;
  std::string folder;  // of the programs
};

// Adds to the report what is measured. A contender that fails is noted there; a failure here ends everything.
Status run_rounds(const Schedule& schedule, Report& report);

}  // namespace tutti::bench

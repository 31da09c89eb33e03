// What is wrong with a cluster: the sentences that decide the exit code. Pure.
#pragma once

#include <string>
#include <vector>

#include "tools/tutti/check/cluster.h"

namespace tutti::tool::check {

struct Tolerance {
  double bandwidth = 0.5;  // of the median: a direction below it is wrong
  double clock_s = 1;      // how far clocks may be apart
};

struct Problem {
  std::string text;
  std::string remedy;
  bool operator==(const Problem&) const = default;
};

// More pairs than these are counted, not listed.
inline constexpr std::size_t kPairsNamedMax = 10;

std::vector<Problem> problems_of(const Cluster& cluster, const Tolerance& tolerance);

// The slowest directions below the tolerance, the worst first: "b -> c: 1.1 GB/s, 0.33 of the median 3.3 GB/s".
struct SlowWay {
  Rank from = 0;
  Rank to = 0;
  double bytes_per_s = 0;
  double ratio = 0;  // to the median
};
std::vector<SlowWay> slow_ways(const Cluster& cluster, double tolerance);

}  // namespace tutti::tool::check

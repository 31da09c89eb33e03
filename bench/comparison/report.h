// The tables of bench/compare and the same as JSON.
#pragma once

#include <string>
#include <vector>

#include "bench/comparison/facts.h"
#include "bench/comparison/samples.h"

namespace tutti::bench {

struct Report {
  Facts facts;
  Samples samples;
  std::vector<std::string> failures;  // a sentence for each run that did not end well
  std::vector<double> foreign_cores;  // that others kept busy, for each run
};

// Tutti against the best peer and the bound, a table for each collective and number of ranks; then how many targets
// are met.
std::string ratio_tables(const Report& report);
// Every contender's time.
std::string time_tables(const Report& report);
// Machine, commit, foreign load and what failed.
std::string footer(const Report& report);
std::string json_text(const Report& report);

}  // namespace tutti::bench

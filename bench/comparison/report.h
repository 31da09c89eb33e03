// The tables of bench/compare and the same as JSON.
#pragma once

#include <string>
#include <vector>

#include "bench/comparison/facts.h"
#include "bench/comparison/samples.h"
#include "bench/comparison/targets.h"

namespace tutti::bench {

struct Failure {
  std::string contender;
  std::string text;  // a sentence
};

struct Report {
  Facts facts;
  Network network = {};
  Samples samples = {};
  std::vector<Failure> failures = {};      // a run that did not end well
  std::vector<double> foreign_cores = {};  // that others kept busy, for each run
};

// Tutti against the best peer and the bound, a table for each collective and number of ranks; then how many targets
// are met.
std::string ratio_tables(const Report& report);
// Every contender's time; marks those of whom a run failed or a result was wrong.
std::string time_tables(const Report& report);
// Machine, commit, foreign load and what failed.
std::string footer(const Report& report);
std::string json_text(const Report& report);

}  // namespace tutti::bench

// Runs for tests, made of a few numbers.
#pragma once

#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tools/perf/judge/statistics.h"
#include "tools/perf/results.h"

namespace tutti::perf {

inline Measurement measurement_of(std::vector<double> repeats_us) {
  Measurement measurement;
  measurement.time_us = median_of(repeats_us);
  measurement.repeats_us = std::move(repeats_us);
  measurement.wrong = 0;
  return measurement;
}

inline Row row_of(std::uint64_t bytes, std::vector<double> out_of_place_us, std::vector<double> in_place_us = {}) {
  Row row;
  row.bytes = bytes;
  row.count = bytes / 4;
  row.type = "float";
  row.operation = "sum";
  row.out_of_place = measurement_of(std::move(out_of_place_us));
  if (!in_place_us.empty()) row.in_place = measurement_of(std::move(in_place_us));
  return row;
}

inline Run run_of(std::vector<Row> rows, int ranks = 8) {
  Run run;
  run.setup.program = "all_reduce_perf";
  run.setup.library = "Tutti 0.1.0";
  run.setup.iterations = 20;
  for (int rank = 0; rank < ranks; ++rank) {
    run.setup.seats.push_back(
        {.rank = rank, .group = 0, .pid = 1, .host = "here", .device = rank, .bus = "", .name = "virtual"});
  }
  run.rows = std::move(rows);
  return run;
}

// A time as machines give it: never much below the usual one, sometimes far above it.
inline double noisy(Random& random, double usual_us, double noise) {
  const double uniform = static_cast<double>(random.below(1 << 20) + 1) / (1 << 20);
  return usual_us * (1 - noise * std::log(uniform));
}

inline std::vector<double> noisy_repeats(Random& random, std::size_t count, double usual_us, double noise) {
  std::vector<double> repeats(count);
  for (double& repeat : repeats) repeat = noisy(random, usual_us, noise);
  return repeats;
}

}  // namespace tutti::perf

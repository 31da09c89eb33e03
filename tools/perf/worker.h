// One thread of a run: goes through the rows of the table with its ranks, in step with all other threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tools/perf/checking.h"
#include "tools/perf/job.h"
#include "tools/perf/pattern.h"
#include "tools/perf/results.h"
#include "tools/perf/timing.h"

namespace tutti::perf {

// Told by the first thread of the first process, as things happen.
struct Observer {
  std::function<void(const Row&)> row_begins;
  std::function<void(const Measurement&, Place)> measured;
  std::function<void(const Row&)> row_ends;
  std::function<void(const std::string&)> found_wrong;  // a sentence; by any thread of any process, on its own
};

struct Totals {
  std::int64_t out_of_bounds = 0;  // of all ranks
  double bus_gbps = 0;             // sums over measurements
  std::int64_t measurements = 0;
};

class Worker {
 public:
  // `observer` counts for the first thread of the first process, but for found_wrong.
  Worker(const Job& job, int thread, std::span<const Station> stations, const Observer& observer)
      : job_(job), thread_(thread), stations_(stations), observer_(observer) {}

  Status run();
  const Totals& totals() const { return totals_; }

 private:
  Status run_rows(const ElementType& type, Operation operation, int root);
  Status warm_up(const ElementType& type, Operation operation, int root);
  Result<Row> run_row(const ElementType& type, Operation operation, int root, std::uint64_t bytes,
                      const Pattern& pattern);
  Result<Measurement> measure(const Case& test, const Pattern& pattern);
  Result<double> time_repeat(const Case& test);
  Status add_samples(const Case& test, Measurement& measurement);
  Status add_stragglers(const Case& test, Measurement& measurement);
  Status check(const Case& test, const Pattern& pattern, Measurement& measurement);
  Result<std::vector<std::vector<double>>> gather_samples(const Case& test, Beginning beginning);
  Status explain(const Case& test, Row& row);
  bool is_first() const { return thread_ == 0 && job_.process == 0; }

  const Job& job_;
  int thread_;
  std::span<const Station> stations_;
  const Observer& observer_;
  Totals totals_;
  std::uint64_t seed_ = 0;
};

}  // namespace tutti::perf

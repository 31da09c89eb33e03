#include "tools/perf/worker.h"

#include <algorithm>
#include <numeric>

#include "tools/perf/explanation.h"
#include "tools/perf/failure.h"
#include "tools/perf/judge/statistics.h"

namespace tutti::perf {

namespace {

// -a: which of the times of all threads is reported.
double reported(std::span<const double> times, int average) {
  if (average == 0) return times.front();
  if (average == 2) return *std::ranges::min_element(times);
  if (average == 3) return *std::ranges::max_element(times);
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

std::vector<const ElementType*> chosen_types(const Options& options) {
  if (options.type != "all") return {find_type(options.type)};
  std::vector<const ElementType*> types;
  for (const ElementType& type : element_types()) types.push_back(&type);
  return types;
}

std::vector<Operation> chosen_operations(const Options& options, const Collective& collective) {
  if (!collective.reduces) return {Operation::none};
  if (options.operation != "all") return {*find_operation(options.operation)};
  return {operations().begin(), operations().end()};
}

std::vector<int> chosen_roots(const Options& options, const Collective& collective, int ranks) {
  if (!collective.has_root) return {-1};
  if (options.root != kAllRoots) return {options.root};
  std::vector<int> roots(static_cast<std::size_t>(ranks));
  std::iota(roots.begin(), roots.end(), 0);
  return roots;
}

// NVIDIA's library does not scale 8-bit floats. Who asks for it by name gets its answer.
bool is_refused(const ElementType& type, Operation operation) {
  const bool scales = operation == Operation::avg || operation == Operation::mulsum;
  return scales && type.numbers == Numbers::floats && type.bytes == 1 && !is_tutti_library();
}

std::string shown(Operation operation, const Collective& collective) {
  return std::string(operation == Operation::none ? collective.shown_operation : name_of(operation));
}

}  // namespace

Status Worker::run() {
  for (const ElementType* type : chosen_types(job_.options)) {
    for (const Operation operation : chosen_operations(job_.options, job_.collective)) {
      if (job_.options.operation == "all" && is_refused(*type, operation)) continue;
      for (const int root : chosen_roots(job_.options, job_.collective, job_.ranks))
        TUTTI_TRY(run_rows(*type, operation, root));
    }
  }
  return {};
}

Status Worker::warm_up(const ElementType& type, Operation operation, int root) {
  TUTTI_TRY(job_.crew.barrier(thread_));
  for (const std::uint64_t bytes : job_.sizes) {
    const Case test{type, operation, root, {bytes, type.bytes, job_.ranks, &job_.traffic}, Place::out_of_place};
    for (int i = 0; i < job_.options.warmup_iterations; ++i)
      TUTTI_TRY(start_calls(job_, test, stations_, static_cast<std::uint64_t>(i)));
    TUTTI_TRY(finish(stations_, job_.options));
  }
  return {};
}

Status Worker::run_rows(const ElementType& type, Operation operation, int root) {
  const Pattern pattern(type, operation, job_.ranks);
  TUTTI_TRY(warm_up(type, operation, root));
  for (int cycle = 0; job_.options.cycles == 0 || cycle < job_.options.cycles; ++cycle) {
    for (const std::uint64_t bytes : job_.sizes) {
      TUTTI_ASSIGN(const Row row, run_row(type, operation, root, bytes, pattern));
      if (is_first()) observer_.row_ends(row);
    }
  }
  return {};
}

Result<Row> Worker::run_row(const ElementType& type, Operation operation, int root, std::uint64_t bytes,
                            const Pattern& pattern) {
  Case test{type, operation, root, {bytes, type.bytes, job_.ranks, &job_.traffic}, Place::out_of_place};
  const Layout layout = test.layout(job_.collective);
  Row row{.bytes = std::max(layout.send_count, layout.receive_count) * type.bytes,
          .count = layout.call_count,
          .type = std::string(type.name),
          .operation = shown(operation, job_.collective),
          .root = root};
  if (is_first()) observer_.row_begins(row);
  TUTTI_TRY(explain(test, row));
  for (const Place place : {Place::out_of_place, Place::in_place}) {
    test.place = place;
    TUTTI_ASSIGN(Measurement measurement, measure(test, pattern));
    if (is_first()) observer_.measured(measurement, place);
    (place == Place::in_place ? row.in_place : row.out_of_place) = std::move(measurement);
  }
  return row;
}

Result<double> Worker::time_repeat(const Case& test) {
  TUTTI_ASSIGN(const Timing timing, time_calls(job_, test, stations_, thread_));
  const double mine = job_.options.report_cpu_time != 0 ? timing.until_returned_us : timing.until_done_us;
  TUTTI_ASSIGN(const std::vector<double> all, job_.crew.gather(thread_, {&mine, 1}));
  return reported(all, job_.options.average);
}

Result<Measurement> Worker::measure(const Case& test, const Pattern& pattern) {
  Measurement measurement;
  for (int i = 0; i < job_.options.repeats_of_each(); ++i) {
    TUTTI_ASSIGN(const double time, time_repeat(test));
    measurement.repeats_us.push_back(time);
  }
  measurement.time_us = median_of(measurement.repeats_us);
  if (measurement.time_us > 0)
    measurement.algorithm_gbps = job_.collective.moved_bytes(test.shape) / measurement.time_us / 1e3;
  measurement.bus_gbps = measurement.algorithm_gbps * job_.collective.bus_factor(job_.ranks);
  totals_.bus_gbps += measurement.bus_gbps;
  ++totals_.measurements;
  if (job_.options.wants_samples()) TUTTI_TRY(add_samples(test, measurement));
  if (job_.options.wants_stragglers()) TUTTI_TRY(add_stragglers(test, measurement));
  TUTTI_TRY(check(test, pattern, measurement));
  return measurement;
}

// By rank of all processes, then by iteration.
Result<std::vector<std::vector<double>>> Worker::gather_samples(const Case& test, Beginning beginning) {
  TUTTI_ASSIGN(const Samples mine, sample_calls(job_, test, stations_, thread_, beginning));
  std::vector<double> flat;
  for (const auto& station : mine) flat.insert(flat.end(), station.begin(), station.end());
  TUTTI_ASSIGN(const std::vector<double> all, job_.crew.gather(thread_, flat));
  const auto iterations = static_cast<std::ptrdiff_t>(job_.options.iterations);
  std::vector<std::vector<double>> by_rank;
  for (auto at = all.begin(); at != all.end(); at += iterations) by_rank.emplace_back(at, at + iterations);
  return by_rank;
}

Status Worker::add_samples(const Case& test, Measurement& measurement) {
  TUTTI_ASSIGN(const auto by_rank, gather_samples(test, Beginning::at_once));
  measurement.samples_us.assign(static_cast<std::size_t>(job_.options.iterations), 0);
  for (const auto& rank : by_rank) {
    for (std::size_t i = 0; i < rank.size(); ++i)
      measurement.samples_us[i] = std::max(measurement.samples_us[i], rank[i]);
  }
  const auto skipped = static_cast<std::size_t>(job_.options.per_iteration_skip);
  measurement.distribution = distribution_of(std::span(measurement.samples_us).subspan(skipped));
  return {};
}

Status Worker::add_stragglers(const Case& test, Measurement& measurement) {
  TUTTI_ASSIGN(const auto by_rank, gather_samples(test, Beginning::together));
  const auto iterations = static_cast<std::size_t>(job_.options.iterations);
  Stragglers stragglers{.slowest = std::vector<std::uint32_t>(by_rank.size()),
                        .iterations = static_cast<std::uint32_t>(iterations)};
  for (const auto& rank : by_rank)
    stragglers.mean_us.push_back(std::accumulate(rank.begin(), rank.end(), 0.0) / static_cast<double>(iterations));
  for (std::size_t i = 0; i < iterations; ++i) {
    const auto slowest = std::ranges::max_element(by_rank, {}, [i](const auto& rank) { return rank[i]; });
    ++stragglers.slowest[static_cast<std::size_t>(slowest - by_rank.begin())];
  }
  measurement.stragglers = std::move(stragglers);
  return {};
}

Status Worker::check(const Case& test, const Pattern& pattern, Measurement& measurement) {
  const bool reports = test.place == Place::out_of_place || job_.collective.checks_in_place;
  if (job_.options.checks == 0) return {};
  double wrong = 0;
  for (int i = 0; i < job_.options.checks && wrong == 0; ++i) {
    TUTTI_ASSIGN(const CheckResult found, check_once(job_, test, pattern, stations_, thread_, ++seed_));
    for (const std::string& sentence : found.sentences) observer_.found_wrong(sentence);
    const double mine[] = {static_cast<double>(found.wrong), static_cast<double>(found.out_of_bounds)};
    TUTTI_ASSIGN(const std::vector<double> all, job_.crew.gather(thread_, mine));
    for (std::size_t at = 0; at < all.size(); at += 2) {
      wrong += all[at];
      totals_.out_of_bounds += static_cast<std::int64_t>(all[at] + all[at + 1]);
    }
  }
  if (reports) measurement.wrong = static_cast<std::int64_t>(wrong);
  return {};
}

Status Worker::explain(const Case& test, Row& row) {
  const Options& options = job_.options;
  if (!is_first() || !(options.explains || !options.output_file.empty() || !options.report.empty())) return {};
  TUTTI_ASSIGN(Explanation explanation, explain_calls(job_, test, stations_));
  row.plan = std::move(explanation.plan);
  row.estimate_us = explanation.estimate_us;
  return {};
}

}  // namespace tutti::perf

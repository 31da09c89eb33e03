#include "tools/perf/report/invented_run_for_test.h"

#include <cmath>

namespace tutti::perf {

namespace {

constexpr int kRanks = 8;
constexpr int kIterations = 20;
constexpr int kLateRank = 5;
constexpr double kLatencyUs = 9;
constexpr double kGigabytesPerSecond = 38;
constexpr std::uint64_t kSlowBytes = 4u << 20;

Stragglers stragglers_of(double time_us) {
  Stragglers stragglers{.mean_us = {}, .slowest = {}, .iterations = kIterations};
  for (int rank = 0; rank < kRanks; ++rank) {
    const bool is_late = rank == kLateRank;
    stragglers.mean_us.push_back(time_us * (is_late ? 0.99 : 0.9 + 0.005 * rank));
    stragglers.slowest.push_back(is_late ? 13 : 1);
  }
  return stragglers;
}

Measurement measurement_of(std::uint64_t bytes, double time_us) {
  const double gbps = static_cast<double>(bytes) / time_us / 1e3;
  Measurement measurement;
  measurement.time_us = time_us;
  measurement.algorithm_gbps = gbps;
  measurement.bus_gbps = gbps * 2 * (kRanks - 1) / kRanks;
  measurement.wrong = 0;
  measurement.repeats_us = {time_us * 0.98, time_us, time_us * 1.03};
  measurement.distribution = Distribution{.min_us = time_us * 0.94,
                                          .max_us = time_us * 1.31,
                                          .mean_us = time_us,
                                          .p50_us = time_us * 0.98,
                                          .p95_us = time_us * 1.12,
                                          .p99_us = time_us * 1.31,
                                          .deviation_us = time_us * 0.05,
                                          .variation_percent = 5};
  for (int i = 0; i < kIterations; ++i) measurement.samples_us.push_back(time_us * (0.94 + 0.01 * i));
  measurement.stragglers = stragglers_of(time_us);
  return measurement;
}

Row row_of(std::uint64_t bytes, double slowdown) {
  const double ideal_us = kLatencyUs + static_cast<double>(bytes) / kGigabytesPerSecond / 1e3;
  const double time_us = slowdown * ideal_us * (bytes == kSlowBytes ? 2.4 : 1.08);
  Row row;
  row.bytes = bytes;
  row.count = bytes / 4;
  row.type = "float";
  row.operation = "sum";
  row.plan = bytes < 65536 ? "all to all, 1 lane" : "ring, 4 lanes, tiles of 128 KiB";
  row.estimate_us = ideal_us;
  row.out_of_place = measurement_of(bytes, time_us);
  row.in_place = measurement_of(bytes, time_us * 0.97);
  return row;
}

Setup invented_setup() {
  Setup setup{.program = "all_reduce_perf",
              .command = {"./all_reduce_perf", "-b", "8", "-e", "64M", "-f", "2", "-g", "8", "--name", "it's <here>"},
              .started = "2024-05-01T12:00:00Z",
              .ended = "2024-05-01T12:00:21Z",
              .tool_version = "0.1.0",
              .library = "Tutti 0.1.0",
              .library_version = 22809,
              .threads = 1,
              .devices_per_thread = 4,
              .processes = 2,
              .min_bytes = 8,
              .max_bytes = 64u << 20,
              .step_bytes = 0,
              .step_factor = 2,
              .warmup_iterations = 1,
              .iterations = kIterations,
              .aggregated_iterations = 1,
              .checks = 1,
              .graph_launches = 0,
              .blocking = 3,
              .repeats = 3,
              .processor = "8 cores of AMD EPYC 7B13",
              .system = "Linux 6.1.0 x86_64",
              .settings = {{"NCCL_DEBUG", "WARN"}, {"NCCL_ALGO", "ring,tree"}},
              .seats = {}};
  for (int rank = 0; rank < kRanks; ++rank) {
    setup.seats.push_back({.rank = rank,
                           .group = 0,
                           .pid = 4000 + rank / 4,
                           .host = rank < 4 ? "node-a" : "node-b",
                           .device = rank % 4,
                           .bus = "0000:0" + std::to_string(rank % 4) + ":00",
                           .name = "virtual device"});
  }
  return setup;
}

}  // namespace

Run invented_run() { return invented_run(1); }

Run invented_run(double slowdown) {
  Run run;
  run.setup = invented_setup();
  for (int power = 3; power <= 26; ++power) run.rows.push_back(row_of(std::uint64_t{1} << power, slowdown));
  for (const Row& row : run.rows)
    run.average_bus_gbps += row.out_of_place->bus_gbps / static_cast<double>(run.rows.size());
  run.bandwidth_reached = true;
  run.remarks = {"At 4 MiB the bus bandwidth dips: it is less than half of that at 2 MiB and at 8 MiB.",
                 "Rank 5 on node-b was the last to finish in 65 % of the iterations."};
  return run;
}

}  // namespace tutti::perf

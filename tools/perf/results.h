// What a run of a perf tool has measured, as a value: tables, files, comparisons and reports are made of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::perf {

// Times of single iterations, of the slowest rank each.
struct Distribution {
  double min_us = 0;
  double max_us = 0;
  double mean_us = 0;
  double p50_us = 0;  // nearest rank, as nccl-tests has it
  double p95_us = 0;
  double p99_us = 0;
  double deviation_us = 0;
  double variation_percent = 0;  // deviation / mean

  bool operator==(const Distribution&) const = default;
};

// How often and by how much ranks were slower than the others, when all began at the same moment.
struct Stragglers {
  std::vector<double> mean_us = {};         // by rank
  std::vector<std::uint32_t> slowest = {};  // by rank: in so many iterations it was the last to finish
  std::uint32_t iterations = 0;

  bool operator==(const Stragglers&) const = default;
};

// One size, out of place or in place.
struct Measurement {
  double time_us = 0;
  double algorithm_gbps = 0;  // GB/s, powers of ten
  double bus_gbps = 0;
  std::optional<std::int64_t> wrong = {};  // elements; nullopt: not checked
  std::vector<double> repeats_us = {};     // what each repetition of the measurement gave; time_us is their median
  std::optional<Distribution> distribution = {};
  std::vector<double> samples_us = {};  // the iterations behind it
  std::optional<Stragglers> stragglers = {};

  bool operator==(const Measurement&) const = default;
};

struct Row {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  std::string type = {};                   // "float"
  std::string operation = {};              // "sum"; "none" where there is none
  int root = -1;                           // -1: none
  std::optional<std::string> plan = {};    // how the library says that it runs this, in one line
  std::optional<double> estimate_us = {};  // what the library says that it should take
  std::optional<Measurement> out_of_place = {};
  std::optional<Measurement> in_place = {};

  bool operator==(const Row&) const = default;
};

// Where a rank ran.
struct Seat {
  int rank = 0;
  int group = 0;
  int pid = 0;
  std::string host = {};
  int device = 0;
  std::string bus = {};   // "0000:0f:00"
  std::string name = {};  // of the device

  bool operator==(const Seat&) const = default;
};

// What a reader needs to know to trust or repeat a run. Never the environment as a whole: it may hold secrets.
struct Setup {
  std::string program = {};               // "all_reduce_perf"
  std::vector<std::string> command = {};  // as it was typed
  std::string started = {};               // "2024-05-01T12:00:00Z"
  std::string ended = {};
  std::string tool_version = {};
  std::string library = {};  // "Tutti 0.1.0" or "NCCL 2.28.9"
  int library_version = 0;   // as ncclGetVersion gives it
  int threads = 1;
  int devices_per_thread = 1;
  int processes = 1;
  std::uint64_t min_bytes = 0;
  std::uint64_t max_bytes = 0;
  std::uint64_t step_bytes = 0;   // 0: by a factor
  std::uint64_t step_factor = 0;  // 0: by bytes
  int warmup_iterations = 0;
  int iterations = 0;
  int aggregated_iterations = 0;
  int checks = 0;
  int graph_launches = 0;
  int blocking = 0;
  int repeats = 1;
  std::string processor = {};                                      // "8 cores of AMD EPYC 7B13"
  std::string system = {};                                         // "Linux 6.1.0 x86_64"
  std::vector<std::pair<std::string, std::string>> settings = {};  // NCCL_* and TUTTI_* that are set, without secrets
  std::vector<Seat> seats = {};

  bool operator==(const Setup&) const = default;
};

struct Run {
  Setup setup;
  std::vector<Row> rows = {};
  std::int64_t out_of_bounds = 0;  // what nccl-tests calls so: wrong elements in all, and writes outside of buffers
  double average_bus_gbps = 0;
  std::optional<bool> bandwidth_reached = {};  // NCCL_TESTS_MIN_BW; nullopt: not asked for
  std::vector<std::string> remarks = {};       // sentences that people should read

  bool operator==(const Run&) const = default;
};

}  // namespace tutti::perf

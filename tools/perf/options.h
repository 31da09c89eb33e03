// The command line of the perf tools: that of nccl-tests, and more.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tutti/status.h"

namespace tutti::perf {

inline constexpr int kAllRoots = -1;

struct Options {
  // Those of nccl-tests, with its defaults.
  int threads = 1;
  int devices = 1;           // per thread
  bool has_devices = false;  // threads or devices were given
  std::uint64_t min_bytes = std::uint64_t{32} << 20;
  std::uint64_t max_bytes = std::uint64_t{32} << 20;
  std::uint64_t step_bytes = std::uint64_t{1} << 20;
  std::uint64_t step_factor = 1;  // 1: by bytes
  std::string operation = "sum";  // or "all"
  std::string type = "float";     // or "all"
  int root = 0;                   // or kAllRoots
  int iterations = 20;
  int warmup_iterations = 1;
  int aggregated_iterations = 1;
  int cycles = 1;  // 0: without end
  int average = 1;
  int parallel_start = 0;
  int checks = 1;
  int blocking = 0;
  int null_stream = 0;
  int timeout_s = 0;
  int graph_launches = 0;
  int report_cpu_time = 0;
  int report_timestamps = 0;
  std::string output_file;
  int local_register = 0;
  int cta_policy = -1;
  int device_implementation = 0;
  int device_cta_count = 16;
  int report_memory = 0;
  int unalign = 0;
  int per_iteration = 0;
  int per_iteration_skip = 0;

  // Beyond it.
  bool explains = false;
  bool reports_stragglers = false;
  int repeats = 0;  // 0: 1, or 10 where runs are compared
  std::string baseline;
  double least_effect_percent = 5;
  double confidence_percent = 95;
  std::string topology;
  std::string report;
  std::vector<std::string> overlays;  // "LABEL=FILE" or "FILE"
  std::string csv;
  std::string markdown;

  // A graph does not show its iterations.
  bool wants_samples() const {
    return graph_launches == 0 && (per_iteration != 0 || !output_file.empty() || !report.empty() || !csv.empty());
  }
  bool wants_stragglers() const { return graph_launches == 0 && (reports_stragglers || !report.empty()); }
  int repeats_of_each() const { return repeats > 0 ? repeats : baseline.empty() ? 1 : 10; }
};

void add_options(CLI::App& app, Options& options);
// What no single option shows: an order of sizes, options that exclude each other.
Status validate(const Options& options);

// "1G", "64k", "1.5M", "100".
std::optional<std::uint64_t> size_of(const std::string& text);

struct Sizes {
  std::vector<std::uint64_t> bytes;
  std::string remark;  // where the largest is not what was asked for
};
Result<Sizes> sizes_of(const Options& options);

}  // namespace tutti::perf

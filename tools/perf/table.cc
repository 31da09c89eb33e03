#include "tools/perf/table.h"

#include <fmt/format.h>
#include <nccl.h>

#include <cmath>

namespace tutti::perf {

namespace {

// The version of nccl-tests whose flags and output these are.
constexpr std::string_view kTestsVersion = "2.19.6";

std::string blocking_lines(const Options& options) {
  std::string lines;
  if (options.blocking == 1) lines += "# Blocking Enabled: wait and barrier after each inner iteration (-m) \n";
  if (options.blocking == 2) lines += "# Blocking Enabled: wait after each inner iteration (-m), no barrier \n";
  if (options.blocking == 3)
    lines += "# Blocking Enabled: wait and barrier after each outer iteration (-n); reported time excludes barrier \n";
  if (options.per_iteration != 0) {
    lines += "# Per-Iteration Report: CUDA event timing; i_* uses max over process rows";
    if (options.per_iteration_skip > 0)
      lines += fmt::format("; summary skips first {} iterations", options.per_iteration_skip);
    lines += " \n";
  }
  if (options.parallel_start != 0) lines += "# Parallel Init Enabled: threads call into NcclInitRank concurrently \n";
  return lines;
}

// A line of the head: the columns of a place come twice.
std::string head_line(const std::string& first, const std::string& place, bool has_timestamps,
                      std::string_view timestamp) {
  return fmt::format("{}{}{} {:>{}}\n", first, place, place, timestamp, has_timestamps ? 19 : 0);
}

}  // namespace

std::string fitted(double value, int width) {
  for (int digits = 2; digits >= 0; --digits) {
    std::string text = fmt::format("{:{}.{}f}", value, width, digits);
    if (static_cast<int>(text.size()) <= width) return text;
  }
  return fmt::format("{:{}.{}e}", value, width, width >= 7 ? 1 : 0);
}

std::string preamble(const Setup& setup, const Options& options) {
  const bool by_factor = options.step_factor > 1;
  return fmt::format("# nccl-tests version {} nccl-headers={} nccl-library={}\n", kTestsVersion, NCCL_VERSION_CODE,
                     setup.library_version) +
         fmt::format("# Collective test starting: {}\n", setup.program) +
         fmt::format(
             "# nThread {} nGpus {} minBytes {} maxBytes {} step: {}({}) warmup iters: {} iters: {} agg iters: {} "
             "validation: {} graph: {} unalign: {}\n",
             options.threads, options.devices, options.min_bytes, options.max_bytes,
             by_factor ? options.step_factor : options.step_bytes, by_factor ? "factor" : "bytes",
             options.warmup_iterations, options.iterations, options.aggregated_iterations, options.checks,
             options.graph_launches, options.unalign) +
         blocking_lines(options) + "#\n# Using devices\n";
}

std::string seat_line(const Seat& seat) {
  return fmt::format("#  Rank {:2d} Group {:2d} Pid {:6d} on {:>10} device {:2d} [{}] {}\n", seat.rank, seat.group,
                     seat.pid, seat.host, seat.device, seat.bus, seat.name);
}

std::string table_head(const Options& options) {
  const auto first = [](std::string_view size, std::string_view count, std::string_view type, std::string_view redop,
                        std::string_view root) {
    return fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}", size, count, type, redop, root);
  };
  const bool has_times = options.report_timestamps != 0;
  const bool has_iterations = options.per_iteration != 0;
  const std::string_view time = options.report_cpu_time != 0 ? "cputime" : "time";
  std::string names = fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", time, "algbw", "busbw", "#wrong");
  std::string units = fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", "(us)", "(GB/s)", "(GB/s)", "");
  if (has_iterations) {
    names += fmt::format("  {:>7}  {:>7}  {:>7}  {:>7}", "i_min", "i_max", "i_p99", "i_cv%");
    units += fmt::format("  {:>7}  {:>7}  {:>7}  {:>7}", "(us)", "(us)", "(us)", "(%)");
  }
  const std::string_view places =
      has_iterations ? "              out-of-place (+ per-iteration)                                in-place (+ "
                       "per-iteration)\n"
                     : "           out-of-place                       in-place          \n";
  return "#\n" + first("", "", "", "", "") + std::string(places) +
         head_line(first("size", "count", "type", "redop", "root"), names, has_times, has_times ? "timestamp" : "") +
         head_line(first("(B)", "(elements)", "", "", ""), units, has_times, has_times ? "%Y-%m-%d %H:%M:%S" : "");
}

std::string row_begin(const Row& row) {
  return fmt::format("{:12}  {:12}  {:>8}  {:>6}  {:6}", row.bytes, row.count, row.type, row.operation, row.root);
}

std::string row_part(const Measurement& measurement, Place place, const Options& options, const std::string& now) {
  std::string text = fmt::format("  {}  {}  {}", fitted(measurement.time_us, 7), fitted(measurement.algorithm_gbps, 6),
                                 fitted(measurement.bus_gbps, 6));
  text += measurement.wrong ? fmt::format("  {:6g}", static_cast<double>(*measurement.wrong)) : "    N/A";
  if (options.per_iteration != 0 && measurement.distribution) {
    const Distribution& times = *measurement.distribution;
    text += fmt::format("  {}  {}  {}  {}", fitted(times.min_us, 7), fitted(times.max_us, 7), fitted(times.p99_us, 7),
                        fitted(times.variation_percent, 7));
  }
  if (place == Place::out_of_place) return text;
  if (options.report_timestamps != 0) text += fmt::format("{:>21}", now);
  return text + "\n";
}

std::string table_foot(const Run& run) {
  const std::string_view verdict = !run.bandwidth_reached ? "" : *run.bandwidth_reached ? "OK" : "FAILED";
  return fmt::format("# {:<20} : {} {}\n", "Out of bounds values", run.out_of_bounds,
                     run.out_of_bounds == 0 ? "OK" : "FAILED") +
         fmt::format("# {:<20} : {:g} {}\n", "Avg bus bandwidth", run.average_bus_gbps, verdict) +
         fmt::format("#\n# Collective test concluded: {}\n", run.setup.program);
}

std::string memory_text(std::int64_t bytes) {
  auto amount = static_cast<double>(bytes);
  std::string_view unit = "B";
  for (const std::string_view larger : {"KB", "MB", "GB"}) {
    if (std::fabs(amount) < 1024) break;
    amount /= 1024;
    unit = larger;
  }
  const int digits = std::fabs(amount) < 10 ? 2 : std::fabs(amount) < 100 ? 1 : 0;
  return fmt::format("{:.{}f} {}", amount, digits, unit);
}

}  // namespace tutti::perf

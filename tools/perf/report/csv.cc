#include "tools/perf/report/csv.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <vector>

namespace tutti::perf {

namespace {

constexpr std::string_view kHeader =
    "size,count,type,redop,root,place,time_us,alg_bw,bus_bw,wrong,min_us,max_us,avg_us,p50_us,p95_us,p99_us,stdev_us,"
    "cv_pct,estimate_us,plan\r\n";

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); }

std::string distribution_fields(const std::optional<Distribution>& distribution) {
  if (!distribution) return ",,,,,,,";
  const Distribution& of = *distribution;
  return fmt::format("{},{},{},{},{},{},{},{}", number(of.min_us), number(of.max_us), number(of.mean_us),
                     number(of.p50_us), number(of.p95_us), number(of.p99_us), number(of.deviation_us),
                     number(of.variation_percent));
}

std::string line_of(const Row& row, std::string_view place, const Measurement& measurement) {
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", row.bytes, row.count, quoted(row.type), quoted(row.operation),
      row.root, place, number(measurement.time_us), number(measurement.algorithm_gbps), number(measurement.bus_gbps),
      measurement.wrong ? fmt::format("{}", *measurement.wrong) : "", distribution_fields(measurement.distribution),
      row.estimate_us ? number(*row.estimate_us) : "", quoted(row.plan.value_or("")));
}

}  // namespace

std::string csv_report(const Run& run) {
  std::string text(kHeader);
  for (const Row& row : run.rows) {
    if (row.out_of_place) text += line_of(row, "out_of_place", *row.out_of_place);
    if (row.in_place) text += line_of(row, "in_place", *row.in_place);
  }
  return text;
}

}  // namespace tutti::perf

#include "tools/perf/judge/series.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

#include "base/text.h"
#include "tools/perf/judge/statistics.h"

namespace tutti::perf {

namespace {

// Names of types that came and went in nccl-tests.
std::string type_name(const std::string& type) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kAliases = {{{"char", "int8"},
                                                                                             {"int", "int32"},
                                                                                             {"float32", "float"},
                                                                                             {"float16", "half"},
                                                                                             {"float64", "double"},
                                                                                             {"fp8_e4m3", "f8e4m3"},
                                                                                             {"fp8_e5m2", "f8e5m2"}}};
  for (const auto& [alias, name] : kAliases) {
    if (type == alias) return std::string(name);
  }
  return type;
}

bool is_time(double time_us) { return std::isfinite(time_us) && time_us > 0; }

std::vector<double> times_of(const Measurement& measurement) {
  std::vector<double> times;
  for (const double time_us : measurement.repeats_us) {
    if (is_time(time_us)) times.push_back(time_us);
  }
  if (times.empty() && is_time(measurement.time_us)) times.push_back(measurement.time_us);
  return times;
}

}  // namespace

std::string_view name_of(Placement placement) {
  return placement == Placement::out_of_place ? "out of place" : "in place";
}

std::string text_of(const Subject& subject) {
  std::string text = fmt::format("{} {}", text::bytes_text(subject.bytes), subject.type);
  if (subject.operation != "none") text += ' ' + subject.operation;
  if (subject.root >= 0) text += fmt::format(" root {}", subject.root);
  return fmt::format("{} {}", text, name_of(subject.placement));
}

std::vector<Series> series_of(const Run& run) {
  std::vector<Series> all;
  std::map<Subject, std::size_t> known;
  const auto add = [&](const Row& row, const std::optional<Measurement>& measurement, Placement placement) {
    if (!measurement) return;
    const std::vector<double> times = times_of(*measurement);
    if (times.empty()) return;
    const Subject subject{row.bytes, type_name(row.type), row.operation.empty() ? "none" : row.operation, row.root,
                          placement};
    const auto [place, is_new] = known.emplace(subject, all.size());
    if (is_new) {
      all.push_back({.subject = subject,
                     .count = row.count,
                     .time_us = 0,
                     .bus_gbps = measurement->bus_gbps,
                     .repeats_us = {},
                     .row = &row,
                     .measurement = &*measurement});
    }
    std::vector<double>& repeats = all[place->second].repeats_us;
    repeats.insert(repeats.end(), times.begin(), times.end());
  };
  for (const Row& row : run.rows) {
    add(row, row.out_of_place, Placement::out_of_place);
    add(row, row.in_place, Placement::in_place);
  }
  for (Series& series : all) series.time_us = median_of(series.repeats_us);
  return all;
}

std::string collective_name(const Run& run) {
  std::string_view name = run.setup.program;
  name = name.substr(name.find_last_of('/') + 1);  // npos + 1 is the beginning
  return std::string(name.substr(0, name.find("_perf")));
}

std::optional<std::size_t> rank_count(const Run& run) {
  if (!run.setup.seats.empty()) return run.setup.seats.size();
  const Setup& setup = run.setup;
  if (setup.processes <= 0 || setup.threads <= 0 || setup.devices_per_thread <= 0) return std::nullopt;
  return static_cast<std::size_t>(setup.processes) * static_cast<std::size_t>(setup.threads) *
         static_cast<std::size_t>(setup.devices_per_thread);
}

}  // namespace tutti::perf

#include "tools/perf/report/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace tutti::perf {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// What rows must share to be points of one curve.
using Kind = std::tuple<std::string, std::string, int>;

Kind kind_of(const Row& row) { return {row.type, row.operation, row.root}; }

std::vector<Kind> kinds_of(const Run& run) {
  std::vector<Kind> kinds;
  for (const Row& row : run.rows) {
    if (std::find(kinds.begin(), kinds.end(), kind_of(row)) == kinds.end()) kinds.push_back(kind_of(row));
  }
  return kinds;
}

std::string label_of(const Kind& kind) {
  const auto& [type, operation, root] = kind;
  std::string label = type;
  if (operation != "none") label += " " + operation;
  if (root >= 0) label += fmt::format(" root {}", root);
  return label;
}

const std::optional<Measurement>& measured(const Row& row, CurveStyle style) {
  return style == CurveStyle::in_place ? row.in_place : row.out_of_place;
}

CurvePoint point_of(std::uint64_t bytes, const Measurement& measurement) {
  CurvePoint point{bytes, measurement.time_us, measurement.bus_gbps, kNone, kNone};
  if (measurement.distribution) {
    point.p50_us = measurement.distribution->p50_us;
    point.p99_us = measurement.distribution->p99_us;
  }
  return point;
}

std::vector<CurvePoint> points_of(const Run& run, const Kind& kind, CurveStyle style) {
  std::vector<CurvePoint> points;
  for (const Row& row : run.rows) {
    if (kind_of(row) != kind) continue;
    if (style != CurveStyle::estimate) {
      if (const auto& measurement = measured(row, style)) points.push_back(point_of(row.bytes, *measurement));
      continue;
    }
    const auto& measurement = row.out_of_place ? row.out_of_place : row.in_place;
    if (!row.estimate_us || !measurement) continue;
    CurvePoint point = point_of(row.bytes, *measurement);
    points.push_back({row.bytes, *row.estimate_us, point.bus_gbps_at(*row.estimate_us), kNone, kNone});
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const CurvePoint& left, const CurvePoint& right) { return left.bytes < right.bytes; });
  return points;
}

enum class Role : std::uint8_t { main, other };

class Collection {
 public:
  // The curves of one run; each kind has a colour of its own.
  void add(const std::string& label, const Run& run, Role role) {
    const std::vector<Kind> kinds = kinds_of(run);
    for (const Kind& kind : kinds) {
      const std::string prefix = kinds.size() > 1 ? fmt::format("{}, {}", label, label_of(kind)) : label;
      const bool is_room = colours_used_ < kCurveColours;
      const bool is_detailed = is_room && role == Role::main && kinds.size() == 1;
      const std::size_t first = curves_.size();
      put(prefix + ", out of place", run, kind, CurveStyle::out_of_place, is_room);
      const bool is_alone = curves_.size() == first;  // in place is all there is
      put(prefix + ", in place", run, kind, CurveStyle::in_place, is_detailed || (is_room && is_alone));
      if (role == Role::main) put(prefix + ", estimate", run, kind, CurveStyle::estimate, is_detailed);
      if (curves_.size() == first) continue;
      ++colours_used_;
      // Several bands over one another would show nothing.
      const std::size_t first_without_band = role == Role::main ? first + 1 : first;
      for (std::size_t i = first_without_band; i < curves_.size(); ++i) forget_percentiles(curves_[i]);
    }
  }

  std::vector<Curve> take() { return std::move(curves_); }

 private:
  void put(std::string label, const Run& run, const Kind& kind, CurveStyle style, bool is_shown) {
    Curve curve{std::move(label), style, colours_used_ % kCurveColours, is_shown, points_of(run, kind, style)};
    if (!curve.points.empty()) curves_.push_back(std::move(curve));
  }

  static void forget_percentiles(Curve& curve) {
    for (CurvePoint& point : curve.points) point.p50_us = point.p99_us = kNone;
  }

  std::vector<Curve> curves_;
  int colours_used_ = 0;
};

nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace

std::string_view name_of(CurveStyle style) {
  switch (style) {
    case CurveStyle::out_of_place: return "out-of-place";
    case CurveStyle::in_place: return "in-place";
    case CurveStyle::estimate: return "estimate";
  }
  return "";
}

std::vector<Curve> curves_of(const Run& run, const LabelledRuns& others) {
  Collection collection;
  collection.add("this run", run, Role::main);
  for (const auto& [label, other] : others) collection.add(label, other, Role::other);
  return collection.take();
}

nlohmann::ordered_json json_of(const std::vector<Curve>& curves) {
  auto list = nlohmann::ordered_json::array();
  for (const Curve& curve : curves) {
    auto points = nlohmann::ordered_json::array();
    for (const CurvePoint& point : curve.points) {
      points.push_back({{"bytes", point.bytes},
                        {"time", number(point.time_us)},
                        {"bandwidth", number(point.bus_gbps)},
                        {"p50", number(point.p50_us)},
                        {"p99", number(point.p99_us)}});
    }
    list.push_back({{"label", curve.label},
                    {"style", name_of(curve.style)},
                    {"colour", curve.colour},
                    {"shown", curve.is_shown},
                    {"points", std::move(points)}});
  }
  return list;
}

}  // namespace tutti::perf

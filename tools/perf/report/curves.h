// The curves that charts of runs show: one per run, place and kind of row.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/perf/results.h"

namespace tutti::perf {

using LabelledRuns = std::vector<std::pair<std::string, Run>>;

// Of one size; what there is not is NaN.
struct CurvePoint {
  std::uint64_t bytes = 0;
  double time_us = 0;
  double bus_gbps = 0;
  double p50_us = 0;
  double p99_us = 0;

  double bus_gbps_at(double other_us) const { return bus_gbps * time_us / other_us; }
};

enum class CurveStyle : std::uint8_t { out_of_place, in_place, estimate };
std::string_view name_of(CurveStyle style);  // "out-of-place", as classes of the page are called

struct Curve {
  std::string label;
  CurveStyle style = CurveStyle::out_of_place;
  int colour = 0;  // from 0 to kCurveColours - 1
  bool is_shown = true;
  std::vector<CurvePoint> points;  // by size
};

inline constexpr int kCurveColours = 6;

// Rows of other types, operations or roots are curves of their own. Few enough are shown at first to be told apart, and
// only the first curve of each kind of the run itself has percentiles.
std::vector<Curve> curves_of(const Run& run, const LabelledRuns& others);

nlohmann::ordered_json json_of(const std::vector<Curve>& curves);

}  // namespace tutti::perf

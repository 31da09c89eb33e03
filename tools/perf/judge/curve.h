// Times against sizes, all else alike: where they are not as they should be, sizes are named together.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/perf/judge/series.h"

namespace tutti::perf {

// The measurements of one type, operation, root and placement, by size.
struct SizeCurve {
  std::vector<Series> points;

  Placement placement() const { return points.front().subject.placement; }
  bool is_of_same(const SizeCurve& other) const;  // but for the placement
};
// None is empty. The run must outlive them.
std::vector<SizeCurve> curves_of(const Run& run);

// A curve in both placements, as far as they were measured; at least one is.
struct CurvePair {
  const SizeCurve* out_of_place = nullptr;
  const SizeCurve* in_place = nullptr;
  std::string label;  // "float sum: " where a run has several, else nothing

  std::vector<const SizeCurve*> both() const;  // those that there are
};
// The curves must outlive them.
std::vector<CurvePair> pairs_of(const std::vector<SizeCurve>& curves);

// Points first to last of a curve.
struct Stretch {
  std::size_t first = 0;
  std::size_t last = 0;

  bool operator==(const Stretch&) const = default;
};
// The longest stretches on which `is_so` holds throughout.
std::vector<Stretch> stretches(std::size_t count, const std::function<bool(std::size_t)>& is_so);
std::string sizes_text(const SizeCurve& curve, Stretch stretch);  // "16 MiB" or "64 MiB to 256 MiB"

// Sizes that got less bandwidth than both smaller and larger ones: fixed rates and delays never do that.
struct Dip {
  Stretch stretch;
  std::size_t deepest = 0;         // point
  std::size_t reference = 0;       // the point, smaller or larger, whose rate the deepest should have had at least
  double expected_us = 0;          // of the deepest, at that rate
  bool is_in_all_repeats = false;  // and there are three of them or more
};
std::vector<Dip> dips_of(const SizeCurve& curve);

}  // namespace tutti::perf

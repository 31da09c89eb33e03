#include "tools/perf/judge/curve.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace tutti::perf {

namespace {

// A dip is at least so deep; less is how times scatter.
constexpr double kDipMin = 0.15;
constexpr std::size_t kRepeatsMin = 3;

double rate_of(const Series& point) { return static_cast<double>(point.subject.bytes) / point.time_us; }

// The point whose rate the one at `index` should have at least: of the fastest smaller and the fastest larger one the
// slower; itself where there are not both.
std::size_t reference_of(const std::vector<Series>& points, std::size_t index) {
  if (index == 0 || index + 1 == points.size()) return index;
  const auto slower = [](const Series& a, const Series& b) { return rate_of(a) < rate_of(b); };
  const auto here = points.begin() + static_cast<std::ptrdiff_t>(index);
  const auto before = std::max_element(points.begin(), here, slower);
  const auto after = std::max_element(here + 1, points.end(), slower);
  return static_cast<std::size_t>((slower(*before, *after) ? before : after) - points.begin());
}

double depth_at(const std::vector<Series>& points, std::size_t index) {
  return 1 - rate_of(points[index]) / rate_of(points[reference_of(points, index)]);
}

}  // namespace

bool SizeCurve::is_of_same(const SizeCurve& other) const {
  const Subject& a = points.front().subject;
  const Subject& b = other.points.front().subject;
  return a.type == b.type && a.operation == b.operation && a.root == b.root;
}

std::vector<SizeCurve> curves_of(const Run& run) {
  std::vector<SizeCurve> curves;
  for (Series& series : series_of(run)) {
    SizeCurve alone{{std::move(series)}};
    const auto found = std::find_if(curves.begin(), curves.end(), [&](const SizeCurve& curve) {
      return curve.is_of_same(alone) && curve.placement() == alone.placement();
    });
    if (found == curves.end()) {
      curves.push_back(std::move(alone));
    } else {
      found->points.push_back(std::move(alone.points.front()));
    }
  }
  for (SizeCurve& curve : curves) {
    std::sort(curve.points.begin(), curve.points.end(),
              [](const Series& a, const Series& b) { return a.subject.bytes < b.subject.bytes; });
  }
  return curves;
}

std::vector<const SizeCurve*> CurvePair::both() const {
  std::vector<const SizeCurve*> found;
  if (out_of_place != nullptr) found.push_back(out_of_place);
  if (in_place != nullptr) found.push_back(in_place);
  return found;
}

std::vector<CurvePair> pairs_of(const std::vector<SizeCurve>& curves) {
  std::vector<CurvePair> pairs;
  for (const SizeCurve& curve : curves) {
    const auto found = std::find_if(pairs.begin(), pairs.end(),
                                    [&](const CurvePair& pair) { return pair.both().front()->is_of_same(curve); });
    CurvePair& pair = found == pairs.end() ? pairs.emplace_back() : *found;
    (curve.placement() == Placement::out_of_place ? pair.out_of_place : pair.in_place) = &curve;
  }
  if (pairs.size() < 2) return pairs;
  for (CurvePair& pair : pairs) {
    const Subject& subject = pair.both().front()->points.front().subject;
    pair.label = subject.root < 0 ? fmt::format("{} {}: ", subject.type, subject.operation)
                                  : fmt::format("{} {} root {}: ", subject.type, subject.operation, subject.root);
  }
  return pairs;
}

std::vector<Stretch> stretches(std::size_t count, const std::function<bool(std::size_t)>& is_so) {
  std::vector<Stretch> found;
  for (std::size_t index = 0; index < count; ++index) {
    if (!is_so(index)) continue;
    if (!found.empty() && found.back().last + 1 == index) {
      found.back().last = index;
    } else {
      found.push_back({index, index});
    }
  }
  return found;
}

std::string sizes_text(const SizeCurve& curve, Stretch stretch) {
  const std::string first = text::bytes_text(curve.points[stretch.first].subject.bytes);
  if (stretch.first == stretch.last) return first;
  return fmt::format("{} to {}", first, text::bytes_text(curve.points[stretch.last].subject.bytes));
}

std::vector<Dip> dips_of(const SizeCurve& curve) {
  const std::vector<Series>& points = curve.points;
  std::vector<double> depths(points.size());
  for (std::size_t index = 0; index < points.size(); ++index) {
    depths[index] = points[index].subject.bytes == 0 ? 0 : depth_at(points, index);
  }
  std::vector<Dip> dips;
  for (const Stretch& stretch : stretches(points.size(), [&](std::size_t i) { return depths[i] >= kDipMin; })) {
    Dip dip{.stretch = stretch};
    const auto begin = depths.begin();
    dip.deepest = static_cast<std::size_t>(std::max_element(begin + static_cast<std::ptrdiff_t>(stretch.first),
                                                            begin + static_cast<std::ptrdiff_t>(stretch.last) + 1) -
                                           begin);
    const Series& deepest = points[dip.deepest];
    dip.reference = reference_of(points, dip.deepest);
    dip.expected_us = static_cast<double>(deepest.subject.bytes) / rate_of(points[dip.reference]);
    const auto& repeats = deepest.repeats_us;
    dip.is_in_all_repeats = repeats.size() >= kRepeatsMin &&
                            *std::min_element(repeats.begin(), repeats.end()) * (1 - kDipMin) >= dip.expected_us;
    dips.push_back(dip);
  }
  return dips;
}

}  // namespace tutti::perf

#include "tools/perf/judge/suspicion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "tools/perf/judge/statistics.h"

namespace tutti::perf {

namespace {

constexpr double kPlacementRatio = 1.25;      // apart from one another more than times usually scatter
constexpr double kPlacementChance = 0.01;     // where repetitions can tell
constexpr std::size_t kPlacementRepeats = 5;  // from here on they can: 1 / 252
constexpr double kVariationPercent = 20;
constexpr double kSpread = 0.30;  // between the slowest and the fastest repetition, by their median
constexpr std::size_t kSpreadRepeats = 3;
constexpr double kWarmUpFactor = 3;
constexpr std::size_t kWarmUpSamples = 5;

Suspicion suspicion_of(SuspicionKind kind, const SizeCurve& curve, Stretch stretch) {
  return {.kind = kind,
          .first_bytes = curve.points[stretch.first].subject.bytes,
          .last_bytes = curve.points[stretch.last].subject.bytes,
          .sentence = {},
          .remedy = {}};
}

std::string time_text(double time_us) { return text::seconds_text(time_us * 1e-6); }

void find_dips(const SizeCurve& curve, const Surroundings& surroundings, std::vector<Suspicion>& all) {
  for (const Dip& dip : dips_of(curve)) {
    Suspicion found = suspicion_of(SuspicionKind::dip, curve, dip.stretch);
    const Series& deepest = curve.points[dip.deepest];
    found.sentence =
        fmt::format("{} got less bandwidth than smaller and larger sizes: {} took {}, at the rate of {} it would be {}",
                    sizes_text(curve, dip.stretch), text::bytes_text(deepest.subject.bytes), time_text(deepest.time_us),
                    text::bytes_text(curve.points[dip.reference].subject.bytes), time_text(dip.expected_us));
    found.remedy = remedy_for_dip(surroundings, dip.is_in_all_repeats);
    all.push_back(std::move(found));
  }
}

// How much the iterations or, without them, the repetitions of a point scatter, in percent; 0: not known or little.
double scatter_percent(const Series& point) {
  const auto& distribution = point.measurement->distribution;
  if (distribution && distribution->variation_percent >= kVariationPercent) return distribution->variation_percent;
  const auto& repeats = point.repeats_us;
  if (repeats.size() < kSpreadRepeats) return 0;
  const auto [least, most] = std::minmax_element(repeats.begin(), repeats.end());
  const double spread = (*most - *least) / point.time_us;
  return spread >= kSpread ? spread * 100 : 0;
}

void find_variation(const SizeCurve& curve, const Surroundings& surroundings, std::vector<Suspicion>& all) {
  const auto scatters = [&](std::size_t index) { return scatter_percent(curve.points[index]) > 0; };
  for (const Stretch& stretch : stretches(curve.points.size(), scatters)) {
    double most = 0;
    for (std::size_t i = stretch.first; i <= stretch.last; ++i) most = std::max(most, scatter_percent(curve.points[i]));
    Suspicion found = suspicion_of(SuspicionKind::variation, curve, stretch);
    found.sentence = fmt::format("times at {} scatter by up to {:.0f} %", sizes_text(curve, stretch), most);
    found.remedy = remedy_for_noise(surroundings);
    all.push_back(std::move(found));
  }
}

// How many times the first iteration took what the others took in the middle; 0: not known.
double first_factor(const Series& point) {
  const auto& samples = point.measurement->samples_us;
  if (samples.size() < kWarmUpSamples) return 0;
  const double others = median_of(std::span(samples).subspan(1));
  return others > 0 ? samples.front() / others : 0;
}

void find_cold_start(const SizeCurve& curve, std::vector<Suspicion>& all) {
  const auto is_cold = [&](std::size_t index) { return first_factor(curve.points[index]) >= kWarmUpFactor; };
  for (const Stretch& stretch : stretches(curve.points.size(), is_cold)) {
    double most = 0;
    for (std::size_t i = stretch.first; i <= stretch.last; ++i) most = std::max(most, first_factor(curve.points[i]));
    Suspicion found = suspicion_of(SuspicionKind::warm_up, curve, stretch);
    found.sentence = fmt::format("the first iteration at {} took up to {:.1f} times as long as the others",
                                 sizes_text(curve, stretch), most);
    found.remedy = "more warm-up iterations (-w)";
    all.push_back(std::move(found));
  }
}

std::vector<Suspicion> suspicions_of(const SizeCurve* curve, const Surroundings& surroundings) {
  std::vector<Suspicion> all;
  if (curve == nullptr) return all;
  find_dips(*curve, surroundings, all);
  find_variation(*curve, surroundings, all);
  find_cold_start(*curve, all);
  return all;
}

bool placements_differ(const Series& out, const Series& in) {
  const double ratio = out.time_us / in.time_us;
  if (ratio < kPlacementRatio && ratio > 1 / kPlacementRatio) return false;
  if (std::min(out.repeats_us.size(), in.repeats_us.size()) < kPlacementRepeats) return true;
  const RankTest test = rank_test(out.repeats_us, in.repeats_us);
  return std::min(test.greater, test.less) <= kPlacementChance;
}

void find_placements(const CurvePair& pair, std::vector<Suspicion>& all) {
  if (pair.both().size() < 2) return;
  const SizeCurve& out = *pair.out_of_place;
  const SizeCurve& in = *pair.in_place;
  const auto partner = [&](std::size_t index) {
    return std::find_if(in.points.begin(), in.points.end(),
                        [&](const Series& other) { return other.subject.bytes == out.points[index].subject.bytes; });
  };
  const auto differ = [&](std::size_t index) {
    const auto other = partner(index);
    return other != in.points.end() && placements_differ(out.points[index], *other);
  };
  for (const Stretch& stretch : stretches(out.points.size(), differ)) {
    Suspicion found = suspicion_of(SuspicionKind::placement, out, stretch);
    std::size_t worst = stretch.first;
    const auto distance = [&](std::size_t i) {
      return std::abs(std::log(out.points[i].time_us / partner(i)->time_us));
    };
    for (std::size_t i = stretch.first; i <= stretch.last; ++i) worst = distance(i) > distance(worst) ? i : worst;
    found.sentence = fmt::format("{}out of place and in place differ at {}: {} took {} and {}", pair.label,
                                 sizes_text(out, stretch), text::bytes_text(out.points[worst].subject.bytes),
                                 time_text(out.points[worst].time_us), time_text(partner(worst)->time_us));
    const bool is_known =
        std::min(out.points[worst].repeats_us.size(), partner(worst)->repeats_us.size()) >= kPlacementRepeats;
    found.remedy = is_known ? "the repetitions agree: one of them copies more, or its buffers lie badly (NUMA, pages)"
                            : "repeat: differences of single measurements are often chance";
    all.push_back(std::move(found));
  }
}

}  // namespace

std::string_view name_of(SuspicionKind kind) {
  switch (kind) {
    case SuspicionKind::dip: return "dip";
    case SuspicionKind::plateau: return "plateau";
    case SuspicionKind::latency: return "latency";
    case SuspicionKind::disagree: return "slow";
    case SuspicionKind::too_fast: return "too fast";
    case SuspicionKind::placement: return "placement";
    case SuspicionKind::variation: return "variation";
    case SuspicionKind::warm_up: return "warm-up";
    case SuspicionKind::interface: return "interface";
  }
  return "";
}

std::vector<Suspicion> merged(const CurvePair& pair, std::vector<Suspicion> out_of_place,
                              std::vector<Suspicion> in_place) {
  std::vector<Suspicion> all = std::move(out_of_place);
  const std::size_t known_count = all.size();
  std::vector<bool> is_of_both(known_count, false);
  for (Suspicion& next : in_place) {
    bool is_known = false;
    for (std::size_t i = 0; i < known_count && !is_known; ++i) {
      Suspicion& known = all[i];
      is_known =
          known.kind == next.kind && known.first_bytes <= next.last_bytes && next.first_bytes <= known.last_bytes;
      if (!is_known) continue;
      is_of_both[i] = true;
      known.first_bytes = std::min(known.first_bytes, next.first_bytes);
      known.last_bytes = std::max(known.last_bytes, next.last_bytes);
    }
    if (is_known) continue;
    next.sentence = "in place, " + next.sentence;
    all.push_back(std::move(next));
  }
  for (std::size_t i = 0; i < known_count; ++i) {
    if (is_of_both[i]) all[i].sentence += "; in place too";
  }
  for (Suspicion& suspicion : all) suspicion.sentence = pair.label + suspicion.sentence;
  return all;
}

std::vector<Suspicion> suspicions_of(const Run& run) {
  const Surroundings surroundings = surroundings_of(run);
  const std::vector<SizeCurve> curves = curves_of(run);
  std::vector<Suspicion> all;
  for (const CurvePair& pair : pairs_of(curves)) {
    std::vector<Suspicion> found =
        merged(pair, suspicions_of(pair.out_of_place, surroundings), suspicions_of(pair.in_place, surroundings));
    all.insert(all.end(), found.begin(), found.end());
    find_placements(pair, all);
  }
  if (const auto interface = wrong_interface(surroundings)) {
    all.push_back({.kind = SuspicionKind::interface,
                   .first_bytes = 0,
                   .last_bytes = 0,
                   .sentence = *interface,
                   .remedy = "name the interface that joins the hosts, or none: then it is found"});
  }
  return all;
}

}  // namespace tutti::perf

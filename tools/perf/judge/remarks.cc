#include "tools/perf/judge/remarks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "tools/perf/judge/curve.h"
#include "tools/perf/judge/statistics.h"

namespace tutti::perf {

namespace {

// Every rank at every size is asked, so that each single one must be far from chance.
constexpr double kStragglerChance = 0.01;
constexpr double kStragglerDelay = 0.05;   // being the slowest by less harms nobody
constexpr std::size_t kRanksNamedMax = 8;  // more are no stragglers but the rule

std::string wrong_remark(const SizeCurve& curve, Stretch stretch) {
  std::int64_t count = 0;
  for (std::size_t i = stretch.first; i <= stretch.last; ++i) count += *curve.points[i].measurement->wrong;
  return fmt::format("{} elements are wrong at {} {}: times of wrong results mean nothing", count,
                     sizes_text(curve, stretch), name_of(curve.placement()));
}

void add_wrong(const CurvePair& pair, std::vector<std::string>& remarks) {
  for (const SizeCurve* curve : pair.both()) {
    const auto is_wrong = [&](std::size_t i) { return curve->points[i].measurement->wrong.value_or(0) > 0; };
    for (const Stretch& stretch : stretches(curve->points.size(), is_wrong)) {
      remarks.push_back(pair.label + wrong_remark(*curve, stretch));
    }
  }
}

// Measured over estimated; 1 where there is no estimate.
double factor_of(const Series& point) {
  const auto& estimate_us = point.row->estimate_us;
  return estimate_us && *estimate_us > 0 ? point.time_us / *estimate_us : 1;
}

std::string factor_text(double least, double most) {
  const auto text = [](double factor) {
    return factor < 1 ? fmt::format("{:.2f}", factor) : fmt::format("{:.1f}", factor);
  };
  return text(least) == text(most) ? text(least) : fmt::format("{} to {}", text(least), text(most));
}

void add_estimates(const SizeCurve& curve, const std::string& label, const std::function<bool(double)>& disagrees,
                   std::vector<std::string>& remarks) {
  const auto is_off = [&](std::size_t i) { return disagrees(factor_of(curve.points[i])); };
  for (const Stretch& stretch : stretches(curve.points.size(), is_off)) {
    double least = factor_of(curve.points[stretch.first]), most = least;
    for (std::size_t i = stretch.first; i <= stretch.last; ++i) {
      least = std::min(least, factor_of(curve.points[i]));
      most = std::max(most, factor_of(curve.points[i]));
    }
    remarks.push_back(fmt::format("{}at {} {} measured {} times the estimate", label, sizes_text(curve, stretch),
                                  name_of(curve.placement()), factor_text(least, most)));
  }
}

// How a rank fell behind at a size; nothing if it did not, or if chance may have done it.
struct Lag {
  double share = 0;  // of the iterations in which it was the slowest
  double delay = 0;  // beyond the others, in their time
};

std::optional<Lag> lag_of(const Series& point, std::size_t rank, std::size_t tests) {
  const auto& stragglers = point.measurement->stragglers;
  if (!stragglers || rank >= stragglers->slowest.size() || rank >= stragglers->mean_us.size()) return std::nullopt;
  const std::size_t ranks = stragglers->slowest.size();
  if (ranks < 2 || stragglers->iterations == 0) return std::nullopt;
  const double chance =
      binomial_at_least(stragglers->slowest[rank], stragglers->iterations, 1.0 / static_cast<double>(ranks));
  if (chance * static_cast<double>(tests) > kStragglerChance) return std::nullopt;
  std::vector<double> others = stragglers->mean_us;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(rank));
  const double usual_us = median_of(others);
  const double delay = usual_us > 0 ? stragglers->mean_us[rank] / usual_us - 1 : 0;
  if (delay < kStragglerDelay) return std::nullopt;
  return Lag{static_cast<double>(stragglers->slowest[rank]) / stragglers->iterations, delay};
}

std::string rank_text(const Run& run, std::size_t rank) {
  for (const Seat& seat : run.setup.seats) {
    if (seat.rank != static_cast<int>(rank) || seat.host.empty()) continue;
    return fmt::format("rank {} (device {} of {})", rank, seat.device, seat.host);
  }
  return fmt::format("rank {}", rank);
}

std::string straggler_remark(const Run& run, const SizeCurve& curve, Stretch stretch, std::size_t rank,
                             std::size_t tests) {
  const Stragglers& first = *curve.points[stretch.first].measurement->stragglers;
  if (stretch.first == stretch.last) {
    return fmt::format("{} was the slowest in {} of {} iterations at {} {}, by {:.0f} % on average",
                       rank_text(run, rank), first.slowest[rank], first.iterations, sizes_text(curve, stretch),
                       name_of(curve.placement()), lag_of(curve.points[stretch.first], rank, tests)->delay * 100);
  }
  double share = 1, delay = 0;
  for (std::size_t i = stretch.first; i <= stretch.last; ++i) {
    const Lag lag = *lag_of(curve.points[i], rank, tests);
    share = std::min(share, lag.share);
    delay = std::max(delay, lag.delay);
  }
  return fmt::format("{} was the slowest in {:.0f} % of the iterations or more at {} {}, by up to {:.0f} % on average",
                     rank_text(run, rank), share * 100, sizes_text(curve, stretch), name_of(curve.placement()),
                     delay * 100);
}

std::size_t rank_count_of(const SizeCurve& curve) {
  std::size_t ranks = 0;
  for (const Series& point : curve.points) {
    const auto& stragglers = point.measurement->stragglers;
    if (stragglers) ranks = std::max(ranks, stragglers->slowest.size());
  }
  return ranks;
}

void add_stragglers(const Run& run, const CurvePair& pair, std::vector<std::string>& remarks) {
  for (const SizeCurve* curve : pair.both()) {
    const std::size_t ranks = rank_count_of(*curve);
    const std::size_t tests = ranks * curve->points.size() * 2;
    std::vector<std::string> found;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto lags = [&](std::size_t i) { return lag_of(curve->points[i], rank, tests).has_value(); };
      for (const Stretch& stretch : stretches(curve->points.size(), lags)) {
        found.push_back(pair.label + straggler_remark(run, *curve, stretch, rank, tests));
      }
    }
    if (found.size() > kRanksNamedMax) found.resize(kRanksNamedMax);
    remarks.insert(remarks.end(), found.begin(), found.end());
  }
}

}  // namespace

std::vector<std::string> remarks_of(const Run& run) {
  std::vector<std::string> remarks;
  const std::vector<SizeCurve> curves = curves_of(run);
  const std::vector<CurvePair> pairs = pairs_of(curves);
  for (const CurvePair& pair : pairs) add_wrong(pair, remarks);
  if (remarks.empty() && run.out_of_bounds > 0) {
    remarks.push_back(
        fmt::format("{} values are wrong or were written out of bounds: times of wrong results mean "
                    "nothing",
                    run.out_of_bounds));
  }
  for (const CurvePair& pair : pairs) {
    for (const SizeCurve* curve : pair.both()) {
      add_estimates(
          *curve, pair.label, [](double factor) { return factor > kEstimateFactorMax; }, remarks);
      add_estimates(
          *curve, pair.label, [](double factor) { return factor < 1 / kEstimateFactorMax; }, remarks);
    }
  }
  for (const CurvePair& pair : pairs) add_stragglers(run, pair, remarks);
  return remarks;
}

}  // namespace tutti::perf

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "tools/perf/judge/suspicion.h"

namespace tutti::perf {

namespace {

constexpr double kFactorMax = 2;  // beyond, the description and the machine disagree
// What a healthy machine shows in the middle of its curve: docs/design/published-tables.md, 8 A100.
constexpr double kUsualInTheMiddle = 3.05;
constexpr double kTooFast = 0.9;  // below this part of the limit the description is of another machine
constexpr std::size_t kPlateauPoints = 3;
constexpr double kPlateauSpread = 1.15;    // bandwidths of a plateau lie within this factor of one another
constexpr double kPlateauFraction = 0.70;  // what of the limit a plateau should reach
constexpr double kLatencySpread = 1.5;     // limits of sizes that latency decides lie within this factor of the first

class AgainstLimit {
 public:
  AgainstLimit(const SizeCurve& curve, const std::vector<double>& limits_us, const Surroundings& surroundings)
      : curve_(curve), limits_us_(limits_us), surroundings_(surroundings) {}

  std::vector<Suspicion> find() {
    find_plateau();
    find_latency();
    find_rest();
    return std::move(all_);
  }

 private:
  std::size_t size() const { return curve_.points.size(); }
  double factor(std::size_t index) const {
    return limits_us_[index] > 0 ? curve_.points[index].time_us / limits_us_[index] : 1;
  }
  double gigabytes_per_s(std::size_t index) const {
    const Series& point = curve_.points[index];
    return static_cast<double>(point.subject.bytes) / point.time_us / 1e3;
  }
  Suspicion about(SuspicionKind kind, Stretch stretch) const {
    return {.kind = kind,
            .first_bytes = curve_.points[stretch.first].subject.bytes,
            .last_bytes = curve_.points[stretch.last].subject.bytes,
            .sentence = {},
            .remedy = {}};
  }
  double most_factor(Stretch stretch) const {
    double most = 0;
    for (std::size_t i = stretch.first; i <= stretch.last; ++i) most = std::max(most, factor(i));
    return most;
  }
  std::string factors_text(Stretch stretch) const {
    const double most = most_factor(stretch);
    double least = most;
    for (std::size_t i = stretch.first; i <= stretch.last; ++i) least = std::min(least, factor(i));
    return most - least < 0.1 ? fmt::format("{:.1f}", most) : fmt::format("{:.1f} to {:.1f}", least, most);
  }

  // The largest sizes, as far as they have the bandwidth of the last one. A curve that still rises there has none.
  void find_plateau() {
    const std::size_t last = size() - 1;
    if (limits_us_[last] <= 0 || size() < kPlateauPoints) return;
    std::size_t first = last;
    const auto belongs = [&](std::size_t i) {
      return gigabytes_per_s(i) * kPlateauSpread >= gigabytes_per_s(last) &&
             gigabytes_per_s(i) <= gigabytes_per_s(last) * kPlateauSpread;
    };
    while (first > 0 && belongs(first - 1)) --first;
    if (last - first + 1 < kPlateauPoints || factor(last) * kPlateauFraction < 1) return;
    plateau_first_ = first;
    Suspicion found = about(SuspicionKind::plateau, {first, last});
    const Series& point = curve_.points[last];
    const double bus = point.bus_gbps > 0 ? point.bus_gbps : gigabytes_per_s(last);
    found.sentence = fmt::format(
        "bandwidth levels off at {:.1f} GB/s from {} on: {:.0f} % of the {:.1f} GB/s that this machine allows", bus,
        text::bytes_text(curve_.points[first].subject.bytes), 100 / factor(last), bus * factor(last));
    found.remedy = remedy_for_bandwidth(surroundings_);
    all_.push_back(std::move(found));
  }

  // The smallest sizes, as far as the limit hardly grows with them. It is latency only if the very smallest are slow.
  void find_latency() {
    std::size_t end = 0;
    while (end < size() && limits_us_[end] <= limits_us_[0] * kLatencySpread && factor(end) > kFactorMax) ++end;
    latency_end_ = end;
    if (end == 0) return;
    const Stretch stretch{0, end - 1};
    Suspicion found = about(SuspicionKind::latency, stretch);
    found.sentence = fmt::format(
        "{} took {} times what hops and launch need on this machine: {} instead of {} at {}",
        sizes_text(curve_, stretch), factors_text(stretch), text::seconds_text(curve_.points[0].time_us * 1e-6),
        text::seconds_text(limits_us_[0] * 1e-6), text::bytes_text(curve_.points[0].subject.bytes));
    found.remedy = remedy_for_latency(surroundings_);
    all_.push_back(std::move(found));
  }

  // What is no plateau and no latency.
  void find_rest() {
    const auto disagrees = [&](std::size_t i) {
      return i >= latency_end_ && i < plateau_first_.value_or(size()) && factor(i) > kFactorMax;
    };
    for (const Stretch& stretch : stretches(size(), disagrees)) {
      Suspicion found = about(SuspicionKind::disagree, stretch);
      found.sentence = fmt::format("{} took {} times the limit", sizes_text(curve_, stretch), factors_text(stretch));
      const bool is_usual = most_factor(stretch) <= kUsualInTheMiddle;
      found.remedy = is_usual
                         ? "up to 3 times is usual between latency and bandwidth: the model knows one delay and one "
                           "rate a link, libraries change protocols there"
                         : remedy_for_bandwidth(surroundings_);
      all_.push_back(std::move(found));
    }
    for (const Stretch& stretch : stretches(size(), [&](std::size_t i) { return factor(i) < kTooFast; })) {
      Suspicion found = about(SuspicionKind::too_fast, stretch);
      found.sentence = fmt::format("{} took {} times the limit, less than the machine should need",
                                   sizes_text(curve_, stretch), factors_text(stretch));
      found.remedy = "the topology describes a slower machine than this one: correct its bandwidths, launch and step";
      all_.push_back(std::move(found));
    }
  }

  const SizeCurve& curve_;
  const std::vector<double>& limits_us_;
  const Surroundings& surroundings_;
  std::optional<std::size_t> plateau_first_;
  std::size_t latency_end_ = 0;
  std::vector<Suspicion> all_;
};

}  // namespace

std::vector<Suspicion> suspicions_against(const SizeCurve& curve, const std::vector<double>& limits_us,
                                          const Surroundings& surroundings) {
  return AgainstLimit(curve, limits_us, surroundings).find();
}

}  // namespace tutti::perf

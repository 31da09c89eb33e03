// Statistics for few, noisy and skewed samples: what they look like, and whether two sets of them differ.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tools/perf/results.h"

namespace tutti::perf {

// Nothing for no samples. Percentiles are nearest ranks and the deviation divides by n, as nccl-tests does it, so that
// both tools say the same of the same samples: p99 of fewer than 100 samples is the maximum, and p50 of an even number
// is the upper of the two in the middle. Samples that are no numbers are left out, here and below.
std::optional<Distribution> distribution_of(std::span<const double> samples_us);

// The middle, or the mean of the two in the middle; 0 for no samples.
double median_of(std::span<const double> samples);

// How probable ranks as extreme as these are if both sets come from the same source, one-sided.
struct RankTest {
  double greater = 1;  // x tends to larger values than y
  double less = 1;     // x tends to smaller values than y
};

// The Mann-Whitney test. It looks at order alone, so that neither skew nor a single wild value decides. Exact, ties
// included, up to kExactSamplesMax samples in all; beyond them the normal approximation, where it is good.
inline constexpr std::size_t kExactSamplesMax = 40;
RankTest rank_test(std::span<const double> x, std::span<const double> y);

// What a one-sided rank test of so many samples can give at best: 1 / (x + y choose x).
double smallest_probability(std::size_t x_count, std::size_t y_count);

struct Interval {
  double low = 0;
  double high = 0;

  bool operator==(const Interval&) const = default;
};

// By how much x lies above y: the median of all pairwise differences (Hodges and Lehmann), with the two-sided interval
// that the rank test does not refuse. No interval where so few samples cannot give that confidence.
struct Shift {
  double estimate = 0;
  std::optional<Interval> interval;
};
Shift shift_of(std::span<const double> x, std::span<const double> y, double confidence);

// Probabilities of many tests, corrected for their number (Benjamini and Hochberg), in the order given.
std::vector<double> corrected(std::span<const double> probabilities);

// How probable `hits` or more are in `trials` that hit with `chance` each.
double binomial_at_least(std::size_t hits, std::size_t trials, double chance);

}  // namespace tutti::perf

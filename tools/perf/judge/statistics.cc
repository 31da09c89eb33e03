#include "tools/perf/judge/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace tutti::perf {

namespace {

// All pairwise differences are looked at: more samples than this are thinned, which changes their median by little.
constexpr std::size_t kPairedSamplesMax = 1000;

std::vector<double> sorted_numbers(std::span<const double> samples) {
  std::vector<double> sorted;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(sorted), [](double v) { return std::isfinite(v); });
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double middle_of(const std::vector<double>& sorted) {
  if (sorted.empty()) return 0;
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double nearest_rank(const std::vector<double>& sorted, std::size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

// The ranks of x among x and y, twice as large so that the means of ties are whole numbers.
struct DoubledRanks {
  std::vector<std::uint32_t> all;
  std::uint64_t of_x = 0;
  double tie_term = 0;  // the sum of t^3 - t over groups of t ties
};

DoubledRanks ranks_of(const std::vector<double>& x, const std::vector<double>& y) {
  struct Entry {
    double value;
    bool is_x;
  };
  std::vector<Entry> entries;
  for (const double value : x) entries.push_back({value, true});
  for (const double value : y) entries.push_back({value, false});
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.value < b.value; });
  DoubledRanks ranks;
  for (std::size_t begin = 0; begin < entries.size();) {
    std::size_t end = begin;
    while (end < entries.size() && entries[end].value == entries[begin].value) ++end;
    const auto doubled = static_cast<std::uint32_t>(begin + 1 + end);  // first and last rank of the ties
    for (std::size_t index = begin; index < end; ++index) {
      ranks.all.push_back(doubled);
      if (entries[index].is_x) ranks.of_x += doubled;
    }
    const auto ties = static_cast<double>(end - begin);
    ranks.tie_term += ties * ties * ties - ties;
    begin = end;
  }
  return ranks;
}

// ways[s]: in how many ways `picked` of the ranks add up to s.
std::vector<double> ways_to_sum(const std::vector<std::uint32_t>& ranks, std::size_t picked) {
  const std::size_t total = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  std::vector<std::vector<double>> ways(picked + 1, std::vector<double>(total + 1, 0));
  ways[0][0] = 1;
  std::size_t seen = 0;
  for (const std::uint32_t rank : ranks) {
    seen += rank;
    for (std::size_t count = picked; count >= 1; --count) {
      for (std::size_t sum = seen; sum >= rank; --sum) ways[count][sum] += ways[count - 1][sum - rank];
    }
  }
  return ways[picked];
}

RankTest exact_test(const DoubledRanks& ranks, std::size_t picked) {
  const std::vector<double> ways = ways_to_sum(ranks.all, picked);
  double all = 0, greater = 0, less = 0;
  for (std::size_t sum = 0; sum < ways.size(); ++sum) {
    all += ways[sum];
    if (sum >= ranks.of_x) greater += ways[sum];
    if (sum <= ranks.of_x) less += ways[sum];
  }
  return {greater / all, less / all};
}

double normal_above(double z) { return std::erfc(z / std::sqrt(2.0)) / 2; }

double rank_sum_deviation(double x_count, double y_count, double tie_term) {
  const double n = x_count + y_count;
  return std::sqrt(x_count * y_count / 12 * (n + 1 - tie_term / (n * (n - 1))));
}

RankTest normal_test(const DoubledRanks& ranks, double x_count, double y_count) {
  const double deviation = rank_sum_deviation(x_count, y_count, ranks.tie_term);
  if (!(deviation > 0)) return {};  // all values are one
  const double above = static_cast<double>(ranks.of_x) / 2 - x_count * (x_count + y_count + 1) / 2;
  // Half a rank towards the middle: sums of ranks are whole numbers.
  return {normal_above((above - 0.5) / deviation), normal_above((-above - 0.5) / deviation)};
}

std::vector<double> thinned(std::vector<double> sorted) {
  if (sorted.size() <= kPairedSamplesMax) return sorted;
  std::vector<double> kept(kPairedSamplesMax);
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = sorted[i * (sorted.size() - 1) / (kept.size() - 1)];
  return kept;
}

// How many of the pairwise differences at either end the interval leaves out, plus one; 0: no interval is wide enough.
std::size_t interval_rank(std::size_t x_count, std::size_t y_count, double tail) {
  if (x_count + y_count > kExactSamplesMax) {
    const auto x = static_cast<double>(x_count), y = static_cast<double>(y_count);
    const double deviation = rank_sum_deviation(x, y, 0);
    std::size_t rank = 0;  // the largest with P(U < rank) <= tail
    while (normal_above((x * y / 2 - static_cast<double>(rank) - 0.5) / deviation) <= tail) ++rank;
    return rank;
  }
  std::vector<std::uint32_t> ranks(x_count + y_count);
  std::iota(ranks.begin(), ranks.end(), 1U);
  const std::vector<double> ways = ways_to_sum(ranks, x_count);
  const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
  double below = 0;
  std::size_t rank = 0;
  for (std::size_t sum = x_count * (x_count + 1) / 2; sum < ways.size(); ++sum, ++rank) {
    below += ways[sum];
    if (below > tail * all) break;
  }
  return rank;
}

}  // namespace

std::optional<Distribution> distribution_of(std::span<const double> samples_us) {
  const std::vector<double> sorted = sorted_numbers(samples_us);
  if (sorted.empty()) return std::nullopt;
  const auto count = static_cast<double>(sorted.size());
  Distribution found;
  found.min_us = sorted.front();
  found.max_us = sorted.back();
  found.mean_us = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
  found.p50_us = sorted[sorted.size() / 2];
  found.p95_us = nearest_rank(sorted, 95);
  found.p99_us = nearest_rank(sorted, 99);
  double squares = 0;
  for (const double sample : sorted) squares += (sample - found.mean_us) * (sample - found.mean_us);
  found.deviation_us = std::sqrt(squares / count);
  found.variation_percent = found.mean_us > 0 ? found.deviation_us / found.mean_us * 100 : 0;
  return found;
}

double median_of(std::span<const double> samples) { return middle_of(sorted_numbers(samples)); }

RankTest rank_test(std::span<const double> x, std::span<const double> y) {
  const std::vector<double> x_sorted = sorted_numbers(x);
  const std::vector<double> y_sorted = sorted_numbers(y);
  if (x_sorted.empty() || y_sorted.empty()) return {};
  const DoubledRanks ranks = ranks_of(x_sorted, y_sorted);
  if (ranks.all.size() <= kExactSamplesMax) return exact_test(ranks, x_sorted.size());
  return normal_test(ranks, static_cast<double>(x_sorted.size()), static_cast<double>(y_sorted.size()));
}

double smallest_probability(std::size_t x_count, std::size_t y_count) {
  double probability = 1;
  const std::size_t fewer = std::min(x_count, y_count);
  const std::size_t more = std::max(x_count, y_count);
  for (std::size_t i = 1; i <= fewer && probability > 0; ++i) {
    probability *= static_cast<double>(i) / static_cast<double>(more + i);
  }
  return probability;
}

Shift shift_of(std::span<const double> x, std::span<const double> y, double confidence) {
  const std::vector<double> x_kept = thinned(sorted_numbers(x));
  const std::vector<double> y_kept = thinned(sorted_numbers(y));
  if (x_kept.empty() || y_kept.empty()) return {};
  std::vector<double> differences;
  differences.reserve(x_kept.size() * y_kept.size());
  for (const double a : x_kept) {
    for (const double b : y_kept) differences.push_back(a - b);
  }
  std::sort(differences.begin(), differences.end());
  Shift shift{.estimate = middle_of(differences), .interval = {}};
  const std::size_t rank = interval_rank(x_kept.size(), y_kept.size(), (1 - confidence) / 2);
  if (rank > 0 && 2 * rank <= differences.size()) {
    shift.interval = {differences[rank - 1], differences[differences.size() - rank]};
  }
  return shift;
}

std::vector<double> corrected(std::span<const double> probabilities) {
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return probabilities[a] > probabilities[b]; });
  std::vector<double> result(probabilities.size());
  double smallest = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto place = static_cast<double>(order.size() - i);  // among the sorted, from 1
    smallest = std::min(smallest, probabilities[order[i]] * static_cast<double>(order.size()) / place);
    result[order[i]] = smallest;
  }
  return result;
}

double binomial_at_least(std::size_t hits, std::size_t trials, double chance) {
  if (hits == 0 || chance >= 1) return 1;
  if (hits > trials || chance <= 0) return 0;
  const auto n = static_cast<double>(trials);
  double probability = 0;
  for (std::size_t k = hits; k <= trials; ++k) {
    const auto count = static_cast<double>(k);
    probability += std::exp(std::lgamma(n + 1) - std::lgamma(count + 1) - std::lgamma(n - count + 1) +
                            count * std::log(chance) + (n - count) * std::log1p(-chance));
  }
  return std::min(1.0, probability);
}

}  // namespace tutti::perf

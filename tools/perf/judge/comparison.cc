#include "tools/perf/judge/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tools/perf/judge/difference.h"

namespace tutti::perf {

namespace {

// Probabilities such as 1 / 20 meet limits such as 1 - 0.95 exactly, but for their last digits.
constexpr double kRounding = 1e-9;

// What the two rank tests of a row say: one against the upper edge of what counts as same, one against the lower.
struct Tested {
  std::size_t row_index = 0;
  std::size_t now_count = 0;
  std::size_t baseline_count = 0;
  double slower = 1;
  double faster = 1;
  double same = 1;
};

std::vector<double> logarithms(const std::vector<double>& times, double added) {
  std::vector<double> result;
  for (const double time : times) result.push_back(std::log(time) + added);
  return result;
}

Status validate(const CompareSettings& settings) {
  if (!(settings.smallest_effect >= 0 && settings.smallest_effect <= 10)) {
    return invalid_argument(
        fmt::format("a smallest effect of {} is not between 0 and 10; 0.05 stands for 5 %", settings.smallest_effect));
  }
  if (!(settings.confidence >= 0.5 && settings.confidence < 1)) {
    return invalid_argument(
        fmt::format("a confidence of {} is not from 0.5 to below 1; 0.95 stands for 95 %", settings.confidence));
  }
  return {};
}

Tested test(const Series& now, const Series& baseline, double smallest_effect) {
  const double margin = std::log1p(smallest_effect);
  const std::vector<double> before = logarithms(baseline.repeats_us, 0);
  const RankTest above = rank_test(logarithms(now.repeats_us, -margin), before);
  const RankTest below = rank_test(logarithms(now.repeats_us, margin), before);
  return {.row_index = 0,
          .now_count = now.repeats_us.size(),
          .baseline_count = baseline.repeats_us.size(),
          .slower = above.greater,
          .faster = below.less,
          .same = std::max(above.less, below.greater)};
}

// Rows that no times could ever decide are not among those that the correction counts: they are known beforehand.
bool can_decide(const Tested& tested, double error) {
  return smallest_probability(tested.now_count, tested.baseline_count) <= error;
}

void correct(std::vector<Tested>& all, double error, double Tested::*member) {
  std::vector<double> probabilities;
  for (const Tested& tested : all) {
    if (can_decide(tested, error)) probabilities.push_back(tested.*member);
  }
  const std::vector<double> after = corrected(probabilities);
  std::size_t next = 0;
  for (Tested& tested : all) tested.*member = can_decide(tested, error) ? after[next++] : 1;
}

// How often both runs must repeat to decide one row of so many, whatever the others say.
std::size_t repeats_needed(std::size_t rows, double error) {
  std::size_t count = 2;
  while (smallest_probability(count, count) * static_cast<double>(rows) > error) ++count;
  return count;
}

std::string range_text(const ComparedRow& row) {
  if (!row.interval) return fmt::format("takes {:.2f} times as long", *row.ratio);
  return fmt::format("takes {:.2f} times as long ({:.2f} to {:.2f})", *row.ratio, row.interval->low,
                     row.interval->high);
}

// What a row is judged among.
struct Family {
  std::size_t tested = 0;     // rows that both runs have
  std::size_t decidable = 0;  // those with repetitions enough to be decided at all
  double error = 0;           // the share of wrong verdicts that is accepted
};

std::string unclear_text(const ComparedRow& row, const Tested& tested, const Family& family,
                         const CompareSettings& asked) {
  const double smallest = smallest_probability(tested.now_count, tested.baseline_count);
  const std::string counts = fmt::format("{} and {} repetitions", tested.now_count, tested.baseline_count);
  if (smallest > family.error) {
    return fmt::format("{}, but {} show no noise to compare that with: repeat both runs at least {} times",
                       range_text(row), counts, repeats_needed(family.tested, family.error));
  }
  const bool looks_decided = *row.ratio > 1 + asked.smallest_effect || *row.ratio < 1 / (1 + asked.smallest_effect);
  if (looks_decided && smallest * static_cast<double>(family.decidable) > family.error) {
    return fmt::format("{}, but {} cannot show that for one row of {}: repeat both runs at least {} times",
                       range_text(row), counts, family.decidable, repeats_needed(family.decidable, family.error));
  }
  return fmt::format("{}: the noise leaves open whether that is within {:.3g} %", range_text(row),
                     asked.smallest_effect * 100);
}

void decide(ComparedRow& row, const Tested& tested, const Family& family, const CompareSettings& asked) {
  const double percent = asked.smallest_effect * 100;
  const auto conclude = [&](Verdict verdict, double probability, std::string sentence) {
    row.verdict = verdict;
    row.confidence = 1 - probability;
    row.sentence = std::move(sentence);
  };
  if (tested.slower <= family.error) {
    conclude(Verdict::slower, tested.slower, fmt::format("{}: slower by more than {:.3g} %", range_text(row), percent));
  } else if (tested.faster <= family.error) {
    conclude(Verdict::faster, tested.faster, fmt::format("{}: faster by more than {:.3g} %", range_text(row), percent));
  } else if (tested.same <= family.error) {
    conclude(Verdict::same, tested.same, fmt::format("{}: within {:.3g} %", range_text(row), percent));
  } else {
    row.verdict = Verdict::unclear;
    row.sentence = unclear_text(row, tested, family, asked);
  }
}

ComparedRow side_by_side(const Series& now, const Series& baseline, double confidence) {
  const Shift shift = shift_of(logarithms(now.repeats_us, 0), logarithms(baseline.repeats_us, 0), confidence);
  ComparedRow row;
  row.subject = now.subject;
  row.now_us = now.time_us;
  row.baseline_us = baseline.time_us;
  row.ratio = std::exp(shift.estimate);
  if (shift.interval) row.interval = {std::exp(shift.interval->low), std::exp(shift.interval->high)};
  return row;
}

ComparedRow missing_row(const Series& series, bool is_in_baseline) {
  ComparedRow row;
  row.subject = series.subject;
  (is_in_baseline ? row.baseline_us : row.now_us) = series.time_us;
  row.sentence = is_in_baseline ? "was measured in the baseline only" : "is not in the baseline";
  return row;
}

Status refuse_nothing_common(const std::vector<Series>& now, const std::vector<Series>& baseline) {
  const auto described = [](const std::vector<Series>& all) {
    if (all.empty()) return std::string("nothing");
    return fmt::format("{} to {}", text_of(all.front().subject), text_of(all.back().subject));
  };
  return invalid_argument(
      fmt::format("the runs have no row in common: this one measured {}, the baseline {}; measure the same sizes, "
                  "types and operations",
                  described(now), described(baseline)));
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster: return "faster";
    case Verdict::slower: return "slower";
    case Verdict::same: return "same";
    case Verdict::unclear: return "unclear";
    case Verdict::missing: return "missing";
  }
  return "unclear";
}

std::size_t Comparison::count(Verdict verdict) const {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const ComparedRow& row) { return row.verdict == verdict; }));
}

Result<Comparison> compare(const Run& now, const Run& baseline, const CompareSettings& settings) {
  TUTTI_TRY(validate(settings));
  TUTTI_TRY(check_comparable(now, baseline));
  Comparison comparison{
      .settings = settings, .baseline = description_of(baseline), .rows = {}, .notes = differences_of(now, baseline)};
  const std::vector<Series> present = series_of(now);
  const std::vector<Series> past = series_of(baseline);
  std::map<Subject, const Series*> unmatched;
  for (const Series& series : past) unmatched.emplace(series.subject, &series);

  std::vector<Tested> all;
  for (const Series& series : present) {
    const auto found = unmatched.find(series.subject);
    if (found == unmatched.end()) {
      comparison.rows.push_back(missing_row(series, false));
      continue;
    }
    all.push_back(test(series, *found->second, settings.smallest_effect));
    all.back().row_index = comparison.rows.size();
    comparison.rows.push_back(side_by_side(series, *found->second, settings.confidence));
    unmatched.erase(found);
  }
  if (all.empty()) return refuse_nothing_common(present, past);
  for (const Series& series : past) {
    if (unmatched.contains(series.subject)) comparison.rows.push_back(missing_row(series, true));
  }

  const double error = (1 - settings.confidence) * (1 + kRounding);
  const auto decidable = static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const Tested& tested) { return can_decide(tested, error); }));
  const Family family{.tested = all.size(), .decidable = decidable, .error = error};
  correct(all, error, &Tested::slower);
  correct(all, error, &Tested::faster);
  for (const Tested& tested : all) decide(comparison.rows[tested.row_index], tested, family, settings);
  return comparison;
}

}  // namespace tutti::perf

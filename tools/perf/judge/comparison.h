// Two runs of one perf tool side by side: a verdict per row that knows the noise, and one for all of them.
//
// Three questions are asked of every row, with the exact rank test on the repetitions of both runs: is it slower by
// more than the smallest effect that counts, is it faster by more, and is it neither. A row that answers none is
// unclear.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/perf/judge/series.h"
#include "tools/perf/judge/statistics.h"
#include "tools/perf/results.h"
#include "tutti/status.h"

namespace tutti::perf {

struct CompareSettings {
  double smallest_effect = 0.05;  // what is less than this part of the baseline's time does not count
  double confidence = 0.95;       // of every "slower", "faster" and "same"
};

enum class Verdict : std::uint8_t {
  faster,
  slower,
  same,     // shown to be within the smallest effect, not merely not shown to be different
  unclear,  // too noisy, or repeated too few times
  missing,  // measured in one of the runs only
};
std::string_view name_of(Verdict verdict);

struct ComparedRow {
  Subject subject;
  std::optional<double> now_us;
  std::optional<double> baseline_us;
  std::optional<double> ratio;       // now / baseline by Hodges and Lehmann: above 1 is slower
  std::optional<Interval> interval;  // of the ratio, at the confidence asked for; of this row alone
  std::optional<double> confidence;  // in the verdict; corrected for the number of rows if slower or faster
  Verdict verdict = Verdict::missing;
  std::string sentence;

  bool operator==(const ComparedRow&) const = default;
};

struct Comparison {
  CompareSettings settings;
  std::string baseline;           // what the baseline is, in a few words
  std::vector<ComparedRow> rows;  // in the order of the run, then those that only the baseline has
  std::vector<std::string> notes;

  std::size_t count(Verdict verdict) const;
  // For CI: some row is slower. If truly no row is slower by more than the smallest effect this is false with the
  // confidence asked for, however many rows there are.
  bool is_regressed() const { return count(Verdict::slower) > 0; }
  // False if something was not decided: a run that says nothing must not look like one that says "no regression".
  bool is_conclusive() const { return count(Verdict::unclear) == 0 && count(Verdict::missing) == 0; }
};

// Runs of different collectives or numbers of ranks, and runs without a row in common, are an error.
Result<Comparison> compare(const Run& now, const Run& baseline, const CompareSettings& settings = {});

// A table for people, each line beginning with "#" so that readers of nccl-tests' table skip it.
std::string text_of(const Comparison& comparison);

}  // namespace tutti::perf

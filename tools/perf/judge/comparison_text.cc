#include <fmt/format.h>

#include "tools/perf/judge/comparison.h"

namespace tutti::perf {

namespace {

std::string time_text(const std::optional<double>& time_us) { return time_us ? fmt::format("{:.2f}", *time_us) : "-"; }

// Never "100.0 %": a test of noisy times is not that sure.
std::string confidence_text(const std::optional<double>& confidence) {
  if (!confidence) return "-";
  return *confidence >= 0.999 ? "> 99.9 %" : fmt::format("{:.1f} %", *confidence * 100);
}

std::string row_text(const ComparedRow& row) {
  const Subject& subject = row.subject;
  return fmt::format(
      "# {:>12}  {:>8}  {:>6}  {:>4}  {:<12}  {:>11}  {:>11}  {:>6}  {:>10}  {}\n", subject.bytes, subject.type,
      subject.operation, subject.root, name_of(subject.placement), time_text(row.baseline_us), time_text(row.now_us),
      row.ratio ? fmt::format("{:.3f}", *row.ratio) : "-", confidence_text(row.confidence), name_of(row.verdict));
}

std::string counts_text(const Comparison& comparison) {
  std::string text;
  for (const Verdict verdict : {Verdict::slower, Verdict::faster, Verdict::same, Verdict::unclear, Verdict::missing}) {
    const std::size_t count = comparison.count(verdict);
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name_of(verdict));
  }
  return text;
}

std::string overall_text(const Comparison& comparison) {
  if (comparison.is_regressed()) return "REGRESSED";
  if (comparison.count(Verdict::same) + comparison.count(Verdict::faster) == 0) return "UNDECIDED: no row was decided";
  return comparison.is_conclusive() ? "NOT REGRESSED" : "NOT REGRESSED where it was decided";
}

}  // namespace

std::string text_of(const Comparison& comparison) {
  std::string text = fmt::format("#\n# Compared with {}\n",
                                 comparison.baseline.empty() ? "a baseline without a name" : comparison.baseline);
  for (const std::string& note : comparison.notes) text += fmt::format("# Note: {}\n", note);
  text += fmt::format("#\n# {:>12}  {:>8}  {:>6}  {:>4}  {:<12}  {:>11}  {:>11}  {:>6}  {:>10}  {}\n", "size", "type",
                      "redop", "root", "place", "baseline us", "now us", "ratio", "confidence", "verdict");
  for (const ComparedRow& row : comparison.rows) text += row_text(row);
  text += "#\n";
  for (const ComparedRow& row : comparison.rows) {
    if (row.verdict == Verdict::same || row.verdict == Verdict::missing) continue;
    text += fmt::format("# {}: {}\n", text_of(row.subject), row.sentence);
  }
  text += fmt::format("# Verdict              : {} ({}; smallest effect {:.3g} %, confidence {:.4g} %)\n",
                      overall_text(comparison), counts_text(comparison), comparison.settings.smallest_effect * 100,
                      comparison.settings.confidence * 100);
  return text;
}

}  // namespace tutti::perf

#include <fmt/format.h>

#include <map>

#include "tools/perf/judge/expectation.h"

namespace tutti::perf {

namespace {

std::string row_text(const ExpectedRow& row) {
  const Subject& subject = row.subject;
  const std::string bus = row.bus_gbps > 0 ? fmt::format("{:.2f}", row.bus_gbps) : "-";
  const std::string limit_bus = row.limit_bus_gbps > 0 ? fmt::format("{:.2f}", row.limit_bus_gbps) : "-";
  return fmt::format("# {:>12}  {:>8}  {:>6}  {:>4}  {:<12}  {:>10.2f}  {:>10.2f}  {:>6}  {:>7}  {:>5.0f} %\n",
                     subject.bytes, subject.type, subject.operation, subject.root, name_of(subject.placement),
                     row.measured_us, row.limit_us, bus, limit_bus, row.fraction * 100);
}

}  // namespace

std::string text_of(const Expectation& expectation) {
  std::string text = fmt::format("#\n# Expected on \"{}\"\n", expectation.topology);
  for (const std::string& note : expectation.notes) text += fmt::format("# Note: {}\n", note);
  if (!expectation.rows.empty()) {
    text += fmt::format("#\n# {:>12}  {:>8}  {:>6}  {:>4}  {:<12}  {:>10}  {:>10}  {:>6}  {:>7}  {:>7}\n", "size",
                        "type", "redop", "root", "place", "time us", "limit us", "busbw", "limit", "reached");
    for (const ExpectedRow& row : expectation.rows) text += row_text(row);
  }
  text += "#\n";
  std::map<std::string, SuspicionKind> said;  // the same remedy is told once
  for (const Suspicion& suspicion : expectation.suspicions) {
    text += fmt::format("# Suspicious ({}): {}\n", name_of(suspicion.kind), suspicion.sentence);
    const auto [known, is_new] = said.emplace(suspicion.remedy, suspicion.kind);
    text += is_new ? fmt::format("#   Remedy: {}\n", suspicion.remedy)
                   : fmt::format("#   Remedy: as for the {} above\n", name_of(known->second));
  }
  if (expectation.suspicions.empty()) text += "# Nothing is suspicious.\n";
  return text;
}

}  // namespace tutti::perf

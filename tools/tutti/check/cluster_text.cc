#include "tools/tutti/check/cluster_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "tools/tutti/check/comparison.h"

namespace tutti::tool::check {

namespace {

constexpr double kOffsetShown = 1e-6;  // less is not what a network can tell

std::vector<std::string> names_of(const Cluster& cluster) {
  std::vector<std::string> names;
  for (const CheckedHost& host : cluster.hosts) names.push_back(host.name);
  return names;
}

std::string offset_text(const std::optional<double>& offset_s) {
  if (!offset_s) return "?";
  if (std::abs(*offset_s) < kOffsetShown) return "0";
  return fmt::format("{}{}", *offset_s < 0 ? "-" : "+", text::seconds_text(std::abs(*offset_s)));
}

// Values that most others do not have are marked.
std::string fact_cell(const ComparedFact& fact, Rank host) {
  for (const FactGroup& group : fact.groups) {
    if (std::ranges::find(group.hosts, host) == group.hosts.end()) continue;
    return &group == &fact.groups.front() ? group.text : group.text + " *";
  }
  return "?";
}

using Rows = std::vector<std::vector<std::string>>;

std::string aligned(const Rows& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      line += fmt::format("{:<{}}", row[column], widths[column] + 2);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string hosts_text(const Cluster& cluster) {
  const std::vector<ComparedFact> facts = compare_facts(cluster);
  std::vector<std::string> common;
  std::vector<const ComparedFact*> different;
  for (const ComparedFact& fact : facts) {
    if (fact.is_common()) {
      common.push_back(fmt::format("{} {}", fact.name, fact.groups.front().text));
    } else {
      different.push_back(&fact);
    }
  }
  Rows rows(1, {"host", "calls itself", "clock"});
  for (const ComparedFact* fact : different) rows.front().push_back(fact->name);
  const auto offsets = clock_offsets_of(cluster);
  for (std::size_t host = 0; host < cluster.hosts.size(); ++host) {
    const CheckedHost& one = cluster.hosts[host];
    std::vector<std::string> row = {one.name, one.report ? one.report->host : "?", offset_text(offsets[host])};
    for (const ComparedFact* fact : different) row.push_back(fact_cell(*fact, static_cast<Rank>(host)));
    rows.push_back(std::move(row));
  }
  std::string text;
  if (!common.empty()) text += fmt::format("On all hosts: {}\n\n", fmt::join(common, ", "));
  text += aligned(rows);
  if (!different.empty()) text += "* differs from most hosts\n";
  return text;
}

std::string maps_text(const Cluster& cluster, const HeatMapStyle& style) {
  const bool has_some = std::ranges::any_of(cluster.pairs, [](const Pair& pair) { return pair.failure.empty(); });
  if (!has_some) return "";
  const std::vector<std::string> names = names_of(cluster);
  return "\n" + heat_map("Latency", names, latencies_of(cluster), Quantity::seconds, style) + "\n" +
         heat_map("Bandwidth, from the row to the column", names, bandwidths_of(cluster), Quantity::bytes_per_second,
                  style);
}

std::string advice_text(const Cluster& cluster) {
  std::string text;
  for (const SharedFinding& shared : shared_findings(cluster)) {
    if (shared.finding.state != State::slower) continue;
    text += fmt::format("{}: {}: {}\n", names_text(cluster, shared.hosts), shared.finding.what, shared.finding.text);
    for (const std::string& detail : shared.finding.details) text += fmt::format("    {}\n", detail);
    if (!shared.finding.remedy.empty()) text += fmt::format("    -> {}\n", shared.finding.remedy);
  }
  return text.empty() ? "" : "\nWould help\n" + text;
}

std::string problems_text(const std::vector<Problem>& problems, std::size_t host_count) {
  if (problems.empty()) {
    return host_count == 1 ? "\nNothing is wrong with this host.\n"
                           : fmt::format("\nNothing is wrong with these {} hosts.\n", host_count);
  }
  std::string text = "\nWrong\n";
  for (const Problem& problem : problems) {
    text += problem.text + "\n";
    if (!problem.remedy.empty()) text += fmt::format("    -> {}\n", problem.remedy);
  }
  return text;
}

}  // namespace

std::string text_of(const Cluster& cluster, const Tolerance& tolerance, const HeatMapStyle& style) {
  return hosts_text(cluster) + maps_text(cluster, style) + advice_text(cluster) +
         problems_text(problems_of(cluster, tolerance), cluster.hosts.size());
}

}  // namespace tutti::tool::check

#include "tools/tutti/check/comparison.h"

#include <algorithm>

#include "tools/tutti/check/host_names.h"

namespace tutti::tool::check {

namespace {

const std::string* find_fact(const HostReport& report, const std::string& name) {
  const auto found = std::ranges::find(report.facts, name, &Fact::name);
  return found == report.facts.end() ? nullptr : &found->text;
}

ComparedFact compare_fact(const Cluster& cluster, const std::string& name) {
  ComparedFact compared{.name = name, .groups = {}};
  for (std::size_t host = 0; host < cluster.hosts.size(); ++host) {
    if (!cluster.hosts[host].report) continue;
    const std::string* text = find_fact(*cluster.hosts[host].report, name);
    const std::string value = text == nullptr ? "unknown" : *text;
    const auto found = std::ranges::find(compared.groups, value, &FactGroup::text);
    FactGroup& group = found != compared.groups.end() ? *found : compared.groups.emplace_back(FactGroup{value, {}});
    group.hosts.push_back(static_cast<Rank>(host));
  }
  std::ranges::stable_sort(compared.groups, std::ranges::greater{},
                           [](const FactGroup& group) { return group.hosts.size(); });
  return compared;
}

}  // namespace

std::vector<ComparedFact> compare_facts(const Cluster& cluster) {
  std::vector<std::string> names;
  for (const CheckedHost& host : cluster.hosts) {
    if (!host.report) continue;
    for (const Fact& fact : host.report->facts) {
      if (std::ranges::find(names, fact.name) == names.end()) names.push_back(fact.name);
    }
  }
  std::vector<ComparedFact> compared;
  for (const std::string& name : names) compared.push_back(compare_fact(cluster, name));
  return compared;
}

std::vector<SharedFinding> shared_findings(const Cluster& cluster) {
  std::vector<SharedFinding> shared;
  for (std::size_t host = 0; host < cluster.hosts.size(); ++host) {
    if (!cluster.hosts[host].report) continue;
    for (const Finding& finding : cluster.hosts[host].report->findings) {
      if (finding.state == State::good) continue;
      const auto found = std::ranges::find(shared, finding, &SharedFinding::finding);
      SharedFinding& one = found != shared.end() ? *found : shared.emplace_back(SharedFinding{finding, {}});
      one.hosts.push_back(static_cast<Rank>(host));
    }
  }
  std::ranges::stable_sort(shared, std::ranges::greater{}, [](const SharedFinding& one) { return one.finding.state; });
  return shared;
}

std::string names_text(const Cluster& cluster, const std::vector<Rank>& hosts) {
  std::vector<std::string> names;
  for (const Rank host : hosts) names.push_back(cluster.hosts[static_cast<std::size_t>(host)].name);
  return names_text(names);
}

}  // namespace tutti::tool::check

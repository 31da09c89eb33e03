#include "tools/tutti/check/judgement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "tools/tutti/check/comparison.h"

namespace tutti::tool::check {

namespace {

const std::string& name_of(const Cluster& cluster, Rank host) {
  return cluster.hosts[static_cast<std::size_t>(host)].name;
}

// Hosts that fail in the same words are named together.
void add_lost_hosts(const Cluster& cluster, std::vector<Problem>& problems) {
  std::vector<std::pair<std::string, std::vector<Rank>>> reasons;
  for (std::size_t host = 0; host < cluster.hosts.size(); ++host) {
    const CheckedHost& one = cluster.hosts[host];
    if (one.report && one.failure.empty()) continue;
    const std::string reason = one.failure.empty() ? "has not reported" : one.failure;
    const auto found = std::ranges::find(reasons, reason, &std::pair<std::string, std::vector<Rank>>::first);
    auto& hosts = found != reasons.end() ? found->second : reasons.emplace_back(reason, std::vector<Rank>{}).second;
    hosts.push_back(static_cast<Rank>(host));
  }
  for (const auto& [reason, hosts] : reasons) {
    problems.push_back({fmt::format("{}: {}", names_text(cluster, hosts), reason), ""});
  }
}

void add_versions(const Cluster& cluster, std::vector<Problem>& problems) {
  for (const ComparedFact& fact : compare_facts(cluster)) {
    if (fact.name != "tutti" || fact.is_common()) continue;
    std::vector<std::string> texts;
    for (const FactGroup& group : fact.groups) {
      texts.push_back(fmt::format("{} on {}", group.text, names_text(cluster, group.hosts)));
    }
    problems.push_back(
        {fmt::format("versions of Tutti differ: {}", fmt::join(texts, ", ")), "install the same version on all hosts"});
  }
}

void add_clocks(const Cluster& cluster, double tolerance_s, std::vector<Problem>& problems) {
  const auto offsets = clock_offsets_of(cluster);
  std::vector<double> known;
  for (const auto& offset : offsets) {
    if (offset) known.push_back(*offset);
  }
  if (known.empty()) return;
  const auto [least, most] = std::ranges::minmax_element(known);
  if (*most - *least <= tolerance_s) return;
  const auto host_of = [&](double offset) {
    return static_cast<Rank>(std::ranges::find(offsets, std::optional(offset)) - offsets.begin());
  };
  problems.push_back({fmt::format("clocks are {:.1f} s apart: {} is ahead of {}", *most - *least,
                                  name_of(cluster, host_of(*most)), name_of(cluster, host_of(*least))),
                      "let a service of time keep them: chrony, or systemd-timesyncd"});
}

// Whom nobody could measure with, though it was tried several times, and what was said of it first.
std::vector<std::optional<std::string>> lonely_hosts(const Cluster& cluster) {
  const std::size_t size = cluster.hosts.size();
  std::vector<std::size_t> tried(size);
  std::vector<std::size_t> failed(size);
  std::vector<std::optional<std::string>> lonely(size);
  for (const Pair& pair : cluster.pairs) {
    for (const Rank host : {pair.a, pair.b}) {
      const auto index = static_cast<std::size_t>(host);
      ++tried[index];
      if (pair.failure.empty()) continue;
      ++failed[index];
      if (!lonely[index]) lonely[index] = pair.failure;
    }
  }
  for (std::size_t host = 0; host < size; ++host) {
    if (tried[host] < 2 || failed[host] < tried[host]) lonely[host].reset();
  }
  return lonely;
}

void add_broken_pairs(const Cluster& cluster, std::vector<Problem>& problems) {
  const auto lonely = lonely_hosts(cluster);
  for (std::size_t host = 0; host < lonely.size(); ++host) {
    if (!lonely[host]) continue;
    problems.push_back({fmt::format("{} could be measured with nobody: {}", cluster.hosts[host].name, *lonely[host]),
                        "look at what runs there, at its firewall and its routes"});
  }
  std::size_t count = 0;
  for (const Pair& pair : cluster.pairs) {
    if (lonely[static_cast<std::size_t>(pair.a)] || lonely[static_cast<std::size_t>(pair.b)]) continue;
    if (pair.failure.empty() || ++count > kPairsNamedMax) continue;
    problems.push_back({fmt::format("{} and {}: {}", name_of(cluster, pair.a), name_of(cluster, pair.b), pair.failure),
                        "look at firewalls and routes between them, or choose interfaces by TUTTI_SOCKET_IFNAME"});
  }
  if (count > kPairsNamedMax) {
    problems.push_back({fmt::format("{} more pairs could not be measured", count - kPairsNamedMax), ""});
  }
}

void add_slow_ways(const Cluster& cluster, double tolerance, std::vector<Problem>& problems) {
  const std::vector<SlowWay> ways = slow_ways(cluster, tolerance);
  const double median = bandwidths_of(cluster).median();
  for (std::size_t index = 0; index < std::min(ways.size(), kPairsNamedMax); ++index) {
    const SlowWay& way = ways[index];
    problems.push_back(
        {fmt::format("{} -> {}: {}, {:.2f} of the median {}", name_of(cluster, way.from), name_of(cluster, way.to),
                     text::rate_text(way.bytes_per_s), way.ratio, text::rate_text(median)),
         "look at the cable, the port and what else runs there"});
  }
  if (ways.size() > kPairsNamedMax) {
    problems.push_back(
        {fmt::format("{} more ways are below {:.2f} of the median", ways.size() - kPairsNamedMax, tolerance), ""});
  }
}

void add_missing(const Cluster& cluster, std::vector<Problem>& problems) {
  for (const SharedFinding& shared : shared_findings(cluster)) {
    if (shared.finding.state != State::missing) continue;
    problems.push_back(
        {fmt::format("{}: {}: {}", names_text(cluster, shared.hosts), shared.finding.what, shared.finding.text),
         shared.finding.remedy});
  }
}

}  // namespace

std::vector<SlowWay> slow_ways(const Cluster& cluster, double tolerance) {
  const Grid grid = bandwidths_of(cluster);
  const double median = grid.median();
  std::vector<SlowWay> ways;
  for (std::size_t from = 0; from < grid.size(); ++from) {
    for (std::size_t to = 0; to < grid.size(); ++to) {
      const auto& cell = grid.at(from, to);
      if (!cell || *cell >= tolerance * median) continue;
      ways.push_back({static_cast<Rank>(from), static_cast<Rank>(to), *cell, *cell / median});
    }
  }
  std::ranges::stable_sort(ways, {}, &SlowWay::bytes_per_s);
  return ways;
}

std::vector<Problem> problems_of(const Cluster& cluster, const Tolerance& tolerance) {
  std::vector<Problem> problems;
  add_lost_hosts(cluster, problems);
  add_versions(cluster, problems);
  add_missing(cluster, problems);
  add_clocks(cluster, tolerance.clock_s, problems);
  add_broken_pairs(cluster, problems);
  add_slow_ways(cluster, tolerance.bandwidth, problems);
  return problems;
}

}  // namespace tutti::tool::check

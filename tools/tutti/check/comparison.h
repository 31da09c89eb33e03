// In what the hosts of a cluster differ, and what they have in common. Pure.
#pragma once

#include <string>
#include <vector>

#include "tools/tutti/check/cluster.h"

namespace tutti::tool::check {

// Who has which value of a fact; the most common first.
struct FactGroup {
  std::string text;
  std::vector<Rank> hosts;
};
struct ComparedFact {
  std::string name;
  std::vector<FactGroup> groups;
  bool is_common() const { return groups.size() == 1; }
};

// Of the hosts that have reported, in the order in which the first of them has the facts.
std::vector<ComparedFact> compare_facts(const Cluster& cluster);

// A finding and the hosts that have it in the same words.
struct SharedFinding {
  Finding finding;
  std::vector<Rank> hosts;
};
// All that are not good, what is missing first.
std::vector<SharedFinding> shared_findings(const Cluster& cluster);

std::string names_text(const Cluster& cluster, const std::vector<Rank>& hosts);  // "gpu[1-3]"

}  // namespace tutti::tool::check

// Everything that one host says about itself: findings for people, facts to compare with those of other hosts.
#pragma once

#include <string>
#include <vector>

#include "tools/tutti/check/finding.h"
#include "tools/tutti/check/frameworks.h"

namespace tutti::tool::check {

// One number or word of a host, such as "kernel" and "6.1.0". The same names in the same order on every host.
struct Fact {
  std::string name;
  std::string text;
  bool operator==(const Fact&) const = default;
};

struct HostReport {
  std::string host = {};     // as it calls itself
  std::string version = {};  // of Tutti
  std::vector<Fact> facts = {};
  Frameworks frameworks = {};
  std::vector<Finding> findings = {};
  bool operator==(const HostReport&) const = default;
};

// Looks at this host. Forks processes, so nothing else may have started a thread before.
HostReport look_here();

}  // namespace tutti::tool::check

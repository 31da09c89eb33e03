// The table of `horovodrun --check-build`, told for Tutti.
#pragma once

#include <string>

#include "tools/tutti/check/frameworks.h"

namespace tutti::tool::check {

struct BuildFacts {
  Frameworks frameworks = {};
  bool has_ucx = false;  // of this build
};

BuildFacts build_facts_here();
std::string build_table(const BuildFacts& facts);  // pure
// What `horovodrun -cb` prints here.
std::string build_table();

}  // namespace tutti::tool::check

// Which frameworks python3 would find, without importing any of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/tutti/check/finding.h"

namespace tutti::tool::check {

struct Framework {
  std::string name;     // "PyTorch"
  std::string version;  // empty: it is not here
  bool operator==(const Framework&) const = default;
};

struct Frameworks {
  std::string python = {};          // its version; empty: there is none that answers
  std::string failure = {};         // why not
  std::vector<Framework> all = {};  // TensorFlow, PyTorch and MXNet, always in this order
  bool operator==(const Frameworks&) const = default;
};

// Asks python3 for at most a few seconds.
Frameworks find_frameworks();
// Of what the script for python3 printed: a line for python and for each framework, its name and version.
Frameworks parse_frameworks(std::string_view printed);
Finding finding_of(const Frameworks& frameworks);

}  // namespace tutti::tool::check

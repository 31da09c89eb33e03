// Reading variables of an environment, with failures that name the variable, its value and the remedy.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bootstrap/env/launch.h"

namespace tutti::bootstrap {

class Variables {
 public:
  explicit Variables(const Lookup& lookup) : lookup_(lookup) {}

  std::optional<std::string> text(std::string_view name) const;  // nullopt: not set, or empty
  bool has(std::string_view name) const { return text(name).has_value(); }
  Result<std::optional<Rank>> number(std::string_view name) const;  // 0 or more

 private:
  const Lookup& lookup_;
};

// "RANK=3", for messages; a long value is cut.
std::string assignment_text(std::string_view name, std::string_view value);

}  // namespace tutti::bootstrap

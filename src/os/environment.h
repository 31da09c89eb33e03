// The variables of this process's environment.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::os {

std::optional<std::string> environment_variable(std::string_view name);
// The names of all that begin so, in alphabetical order.
std::vector<std::string> environment_names(std::string_view prefix);

}  // namespace tutti::os

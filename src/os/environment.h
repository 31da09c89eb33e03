// The variables of this process's environment.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::os {

std::optional<std::string> environment_variable(std::string_view name);
// A value that counts where the environment has none, from now on and for the whole process: what a file of settings
// says. From any thread; the first for a name counts.
void supply_variable(std::string_view name, std::string_view value);
// The names of all that begin so, those that were supplied too, in alphabetical order.
std::vector<std::string> environment_names(std::string_view prefix);

}  // namespace tutti::os

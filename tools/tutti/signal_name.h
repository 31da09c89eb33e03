// Signals by the names that people know.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tutti::tool {

std::string signal_name(int signal);                            // "SIGUSR1"; "signal 42" for one without a name
std::optional<int> signal_of(std::string_view name_or_number);  // "USR1", "sigusr1", "10"

}  // namespace tutti::tool

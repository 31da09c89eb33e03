// How many cores the control group (version 2) of this process pays for; containers set such quotas.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tutti::os {

// The path of the version 2 group in the text of /proc/self/cgroup: "0::/job/7" gives "/job/7".
std::optional<std::string> parse_group_path(std::string_view text);
// Cores per the text of cpu.max: "150000 100000" gives 1.5, "max 100000" nothing.
std::optional<double> parse_quota(std::string_view text);

// The least of the group and of those it is in; `root` is where the groups are mounted.
std::optional<double> cpu_quota(const std::string& root, std::string_view proc_self_cgroup);

}  // namespace tutti::os

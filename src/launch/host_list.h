// The hosts of a command line: "host1:4,host2:4", "gpu[12-13,20]:4", "user@[fe80::1]:2". Pure.
#pragma once

#include <string_view>
#include <vector>

#include "launch/job.h"
#include "tutti/status.h"

namespace tutti::launch {

// In the order of the list; the slots of a host that is named several times are added up. Hosts without a number have
// `standard_slots`.
Result<std::vector<Host>> parse_host_list(std::string_view list, int standard_slots = 1);

// Words between the commas that stand in no brackets.
std::vector<std::string_view> split_host_list(std::string_view list);

}  // namespace tutti::launch

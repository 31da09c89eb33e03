// Lists of hosts as Slurm writes them: "gpu[12-13,20],b[01-03]-x[1-2]" and "2(x3),1".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/status.h"
#include "tutti/types.h"

namespace tutti::bootstrap {

// Beyond any cluster, and little memory all the same.
inline constexpr std::size_t kHostsMax = 65'536;
inline constexpr std::size_t kHostNameBytesMax = 255;

// The names, in the order of the list: of several brackets in a name the last one counts fastest. At least one.
Result<std::vector<std::string>> hosts_of(std::string_view list);

// How many tasks each host has: {2, 2, 2, 1} for "2(x3),1". At least one number, each 1 or more.
Result<std::vector<Rank>> tasks_per_host_of(std::string_view list);

}  // namespace tutti::bootstrap

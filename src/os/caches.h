// Caches and NUMA nodes: from hwloc where it was there when Tutti was built, otherwise from /sys.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::os {

// 0: unknown. Cores are hardware threads.
struct Caches {
  std::size_t l2_bytes = 0;
  std::size_t last_bytes = 0;
  int cores_of_last = 0;
  int numa_nodes = 0;
};

Caches find_caches(int core);  // as seen from this core

// The same from a folder that is laid out as /sys/devices/system.
Caches read_caches(const std::string& system, int core);

// "32K" as /sys writes sizes.
std::optional<std::size_t> parse_cache_size(std::string_view text);
// How many numbers "0-3,8" has.
int count_of_list(std::string_view text);

}  // namespace tutti::os

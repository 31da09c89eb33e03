// Where the cores that this process may use lie in the machine: from hwloc where the build has it, otherwise from /sys.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace tutti::os {

// One hardware thread. Two with the same core are its hyperthreads.
struct CpuPlace {
  int cpu = 0;     // as the scheduler counts
  int core = 0;    // numbered through the whole machine
  int socket = 0;  // likewise
  int numa = 0;    // likewise
  auto operator<=>(const CpuPlace&) const = default;
};

// Of the cores that this process may run on, in their order.
std::vector<CpuPlace> find_cpu_places();

// The same from a folder that is laid out as /sys/devices/system.
std::vector<CpuPlace> read_cpu_places(const std::string& system, std::span<const int> cpus);

}  // namespace tutti::os

// What this process may use of the machine it runs on.
#pragma once

#include <cstddef>
#include <string>

namespace tutti::os {

// Cores are hardware threads, as the scheduler counts them.
struct Machine {
  int usable_cores = 1;              // those this process may run on, at most what its control group's quota pays for
  std::size_t cache_bytes_l2 = 0;    // of one core; 0: unknown
  std::size_t cache_bytes_last = 0;  // the cache before memory; 0: unknown
  int cores_of_last_cache = 1;       // how many share one such cache
  int numa_nodes = 1;
  std::size_t memory_bytes = 0;
  std::string host;
  std::string boot_id;  // differs between machines and between starts of one; empty: the kernel does not tell
};

// Found out at the first call.
const Machine& this_machine();

}  // namespace tutti::os

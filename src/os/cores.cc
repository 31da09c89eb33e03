#include "os/cores.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <memory>

#include "os/control_group.h"
#include "os/small_file.h"

namespace tutti::os {

std::vector<int> allowed_cores() {
  constexpr int kCoresMax = 1 << 16;  // the kernel refuses a mask that is too small for it: try larger ones up to here
  for (int cores = 1024; cores <= kCoresMax; cores *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(CPU_ALLOC(cores),
                                                                [](cpu_set_t* set) { CPU_FREE(set); });
    const std::size_t bytes = CPU_ALLOC_SIZE(cores);
    if (mask == nullptr) return {};
    CPU_ZERO_S(bytes, mask.get());
    if (sched_getaffinity(0, bytes, mask.get()) == 0) {
      std::vector<int> found;
      for (int core = 0; core < cores; ++core) {
        if (CPU_ISSET_S(core, bytes, mask.get())) found.push_back(core);
      }
      return found;
    }
    if (errno != EINVAL) return {};
  }
  return {};
}

int usable_core_count() {
  const int cores = std::max(1, static_cast<int>(allowed_cores().size()));
  const auto quota = cpu_quota("/sys/fs/cgroup", read_small_file("/proc/self/cgroup").value_or(""));
  return quota ? std::clamp(static_cast<int>(std::ceil(std::min(*quota, 1e6))), 1, cores) : cores;
}

}  // namespace tutti::os

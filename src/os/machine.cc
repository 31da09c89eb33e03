#include "os/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <memory>
#include <vector>

#include "os/caches.h"
#include "os/control_group.h"
#include "os/small_file.h"

namespace tutti::os {

namespace {

// The cores that the scheduler may put this process on, in order; empty when it does not tell.
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

int usable_cores(std::size_t allowed) {
  const int cores = std::max(1, static_cast<int>(allowed));
  const auto quota = cpu_quota("/sys/fs/cgroup", read_small_file("/proc/self/cgroup").value_or(""));
  return quota ? std::clamp(static_cast<int>(std::ceil(std::min(*quota, 1e6))), 1, cores) : cores;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

Machine look() {
  Machine machine;
  const std::vector<int> allowed = allowed_cores();
  machine.usable_cores = usable_cores(allowed.size());
  const Caches caches = find_caches(allowed.empty() ? 0 : allowed.front());
  machine.cache_bytes_l2 = caches.l2_bytes;
  machine.cache_bytes_last = caches.last_bytes;
  machine.cores_of_last_cache = std::max(1, caches.cores_of_last);
  machine.numa_nodes = std::max(1, caches.numa_nodes);
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0)
    machine.memory_bytes = static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes);
  machine.host = host_name();
  machine.boot_id = read_small_file("/proc/sys/kernel/random/boot_id").value_or("");
  return machine;
}

}  // namespace

const Machine& this_machine() {
  static const Machine machine = look();
  return machine;
}

}  // namespace tutti::os

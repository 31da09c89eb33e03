#include "os/machine.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "os/caches.h"
#include "os/cores.h"
#include "os/small_file.h"

namespace tutti::os {

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

Machine look() {
  Machine machine;
  const std::vector<int> allowed = allowed_cores();
  machine.usable_cores = usable_core_count();
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

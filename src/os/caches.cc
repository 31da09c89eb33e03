#include "os/caches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "os/small_file.h"

#ifdef TUTTI_HAS_HWLOC
#include <hwloc.h>
#endif

namespace tutti::os {

namespace {

std::string text_of(const std::string& path) { return read_small_file(path).value_or(""); }

#ifdef TUTTI_HAS_HWLOC

Caches ask_hwloc(int core) {
  Caches caches;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return caches;
  if (hwloc_topology_load(topology) == 0) {
    caches.numa_nodes = std::max(0, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE));
    const hwloc_obj* place = hwloc_get_pu_obj_by_os_index(topology, static_cast<unsigned>(core));
    for (; place != nullptr; place = place->parent) {  // outwards from the core: the last cache met is the last one
      if (hwloc_obj_type_is_dcache(place->type) == 0) continue;
      caches.last_bytes = place->attr->cache.size;
      caches.cores_of_last = hwloc_bitmap_weight(place->cpuset);
      if (place->type == HWLOC_OBJ_L2CACHE) caches.l2_bytes = place->attr->cache.size;
    }
  }
  hwloc_topology_destroy(topology);
  return caches;
}

#else

Caches ask_hwloc(int) { return {}; }

#endif

}  // namespace

std::optional<std::size_t> parse_cache_size(std::string_view text) {
  const auto bytes = text::bytes_of(text);
  return bytes ? std::optional<std::size_t>(*bytes) : std::nullopt;
}

int count_of_list(std::string_view text) {
  constexpr std::int32_t kNumberMax = 1 << 16;
  const auto numbers = text::list_of(text, kNumberMax);
  return numbers ? static_cast<int>(numbers->size()) : 0;
}

Caches read_caches(const std::string& system, int core) {
  constexpr int kIndexMax = 16;  // there are four on most machines; the files end the loop
  Caches caches;
  int last_level = 0;
  for (int index = 0; index < kIndexMax; ++index) {
    const std::string folder = fmt::format("{}/cpu/cpu{}/cache/index{}", system, core, index);
    const auto level = text::integer_of<int>(text_of(folder + "/level"));
    if (!level) break;
    const auto bytes = parse_cache_size(text_of(folder + "/size"));
    if (!bytes || text_of(folder + "/type") == "Instruction") continue;
    if (*level == 2) caches.l2_bytes = *bytes;
    if (*level > last_level) {
      last_level = *level;
      caches.last_bytes = *bytes;
      caches.cores_of_last = count_of_list(text_of(folder + "/shared_cpu_list"));
    }
  }
  caches.numa_nodes = count_of_list(text_of(system + "/node/online"));
  return caches;
}

Caches find_caches(int core) {
  const Caches caches = ask_hwloc(core);
  return caches.last_bytes > 0 ? caches : read_caches("/sys/devices/system", core);
}

}  // namespace tutti::os

#include "os/cpu_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "os/cores.h"
#include "os/small_file.h"

#ifdef TUTTI_HAS_HWLOC
#include <hwloc.h>
#endif

namespace tutti::os {
namespace {

constexpr int kNumberMax = 1 << 16;

int number_in(const std::string& path, int otherwise) {
  return text::integer_of<int>(read_small_file(path).value_or("")).value_or(otherwise);
}

#ifdef TUTTI_HAS_HWLOC

int index_of(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t unit) {
  const hwloc_obj* const found = hwloc_get_ancestor_obj_by_type(topology, type, unit);
  return found == nullptr ? 0 : static_cast<int>(found->logical_index);
}

int node_of(hwloc_topology_t topology, hwloc_obj_t unit) {
  const int node = unit->nodeset == nullptr ? -1 : hwloc_bitmap_first(unit->nodeset);
  const hwloc_obj* const found =
      node < 0 ? nullptr : hwloc_get_numanode_obj_by_os_index(topology, static_cast<unsigned>(node));
  return found == nullptr ? 0 : static_cast<int>(found->logical_index);
}

std::vector<CpuPlace> ask_hwloc(std::span<const int> cpus) {
  std::vector<CpuPlace> places;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return places;
  if (hwloc_topology_load(topology) == 0) {
    for (const int cpu : cpus) {
      const hwloc_obj_t unit = hwloc_get_pu_obj_by_os_index(topology, static_cast<unsigned>(cpu));
      if (unit == nullptr) continue;
      places.push_back({.cpu = cpu,
                        .core = index_of(topology, HWLOC_OBJ_CORE, unit),
                        .socket = index_of(topology, HWLOC_OBJ_PACKAGE, unit),
                        .numa = node_of(topology, unit)});
    }
  }
  hwloc_topology_destroy(topology);
  return places;
}

#else

std::vector<CpuPlace> ask_hwloc(std::span<const int>) { return {}; }

#endif

}  // namespace

std::vector<CpuPlace> read_cpu_places(const std::string& system, std::span<const int> cpus) {
  std::map<int, int> nodes;  // by cpu
  for (const std::int32_t node : text::list_of(read_small_file(system + "/node/online").value_or(""), kNumberMax)
                                     .value_or(std::vector<std::int32_t>{})) {
    const auto list = read_small_file(fmt::format("{}/node/node{}/cpulist", system, node));
    for (const std::int32_t cpu : text::list_of(list.value_or(""), kNumberMax).value_or(std::vector<std::int32_t>{}))
      nodes[cpu] = node;
  }
  std::map<std::pair<int, int>, int> cores;  // of a socket, whose numbers /sys starts again in each
  std::vector<CpuPlace> places;
  for (const int cpu : cpus) {
    const std::string folder = fmt::format("{}/cpu/cpu{}/topology", system, cpu);
    const int socket = std::max(0, number_in(folder + "/physical_package_id", 0));
    const int core = number_in(folder + "/core_id", cpu);
    const auto number = cores.emplace(std::pair(socket, core), static_cast<int>(cores.size())).first->second;
    const auto node = nodes.find(cpu);
    places.push_back({.cpu = cpu, .core = number, .socket = socket, .numa = node == nodes.end() ? 0 : node->second});
  }
  return places;
}

std::vector<CpuPlace> find_cpu_places() {
  const std::vector<int> cpus = allowed_cores();
  const std::vector<CpuPlace> places = ask_hwloc(cpus);
  return places.size() == cpus.size() ? places : read_cpu_places("/sys/devices/system", cpus);
}

}  // namespace tutti::os

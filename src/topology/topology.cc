#include "tutti/topology.h"

namespace tutti::topology {

std::size_t Topology::device_count() const {
  std::size_t count = 0;
  for (const Host& host : hosts) count += kinds[host.kind].devices.size();
  return count;
}

std::vector<Place> places(const Topology& topology) {
  std::vector<Place> all;
  all.reserve(topology.device_count());
  for (std::uint32_t host = 0; host < topology.hosts.size(); ++host) {
    const auto device_count = static_cast<std::uint32_t>(topology.kind_of(host).devices.size());
    for (std::uint32_t device = 0; device < device_count; ++device) all.push_back({host, device});
  }
  return all;
}

}  // namespace tutti::topology

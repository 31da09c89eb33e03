#include "planner/orders.h"

#include <algorithm>
#include <cmath>

namespace tutti::planner {

namespace {

// Searching all rings takes (n - 1)! tries at worst.
constexpr std::size_t kDevicesMax = 9;
constexpr std::size_t kRingsMax = 4096;
// Many lanes over many ranks are many steps to simulate, and hierarchical plans win there.
constexpr std::size_t kAcrossDevicesMax = 64;

using Ring = std::vector<Rank>;
using Cables = std::vector<std::vector<int>>;  // between each two devices, in units of the thinnest cable

Cables cables_of(const topology::HostKind& kind) {
  std::vector<int> device_of(kind.vertices.size(), -1);
  for (std::size_t i = 0; i < kind.devices.size(); ++i) device_of[kind.devices[i]] = static_cast<int>(i);
  double thinnest = 0;
  const auto joins_devices = [&](const topology::Link& link) {
    return device_of[link.a] >= 0 && device_of[link.b] >= 0;
  };
  for (const topology::Link& link : kind.links) {
    if (joins_devices(link) && (thinnest == 0 || link.bytes_per_s < thinnest)) thinnest = link.bytes_per_s;
  }
  Cables cables(kind.devices.size(), std::vector<int>(kind.devices.size(), 0));
  for (const topology::Link& link : kind.links) {
    if (!joins_devices(link)) continue;
    const auto a = static_cast<std::size_t>(device_of[link.a]);
    const auto b = static_cast<std::size_t>(device_of[link.b]);
    const int units = static_cast<int>(std::floor(link.bytes_per_s / thinnest + 0.5));
    cables[a][b] += units;
    cables[b][a] += units;
  }
  return cables;
}

// All rings through device 0, each in one direction.
void find_rings(const Cables& cables, Ring& path, std::vector<bool>& visited, std::vector<Ring>& rings) {
  if (rings.size() >= kRingsMax) return;
  const auto last = static_cast<std::size_t>(path.back());
  if (path.size() == cables.size()) {
    if (cables[last][0] > 0 && path[1] < path.back()) rings.push_back(path);
    return;
  }
  for (std::size_t next = 1; next < cables.size(); ++next) {
    if (visited[next] || cables[last][next] == 0) continue;
    visited[next] = true;
    path.push_back(static_cast<Rank>(next));
    find_rings(cables, path, visited, rings);
    path.pop_back();
    visited[next] = false;
  }
}

bool take(Cables& cables, const Ring& ring, int units) {
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const auto a = static_cast<std::size_t>(ring[i]);
    const auto b = static_cast<std::size_t>(ring[(i + 1) % ring.size()]);
    cables[a][b] -= units;
    cables[b][a] -= units;
  }
  return std::all_of(cables.begin(), cables.end(), [](const auto& row) {
    return std::all_of(row.begin(), row.end(), [](int left) { return left >= 0; });
  });
}

// The largest set of rings (one may stand in it twice) that the cables carry at once.
void pack(Cables& cables, const std::vector<Ring>& rings, std::size_t first, std::vector<std::size_t>& chosen,
          std::vector<std::size_t>& best, int& tries) {
  if (chosen.size() > best.size()) best = chosen;
  for (std::size_t i = first; i < rings.size() && tries > 0; ++i) {
    --tries;
    if (take(cables, rings[i], 1)) {
      chosen.push_back(i);
      pack(cables, rings, i, chosen, best, tries);
      chosen.pop_back();
    }
    take(cables, rings[i], -1);
  }
}

std::vector<Ring> rings_inside(const topology::Topology& topology) {
  const topology::HostKind& kind = topology.kind_of(0);
  if (kind.devices.size() < 3 || kind.devices.size() > kDevicesMax) return {};
  Cables cables = cables_of(kind);
  std::vector<Ring> rings;
  Ring path = {0};
  std::vector<bool> visited(kind.devices.size(), false);
  find_rings(cables, path, visited, rings);

  std::vector<std::size_t> chosen;
  std::vector<std::size_t> best;
  int tries = 100000;
  pack(cables, rings, 0, chosen, best, tries);
  std::vector<Ring> orders;
  for (const std::size_t index : best) {
    orders.push_back(rings[index]);
    orders.emplace_back(rings[index].rbegin(), rings[index].rend());
  }
  return orders;
}

// Ring i runs through each host from device i on, so that every ring crosses between hosts at another device; a device
// with several network cards has as many rings.
std::vector<Ring> rings_across(const topology::Topology& topology) {
  const topology::HostKind& kind = topology.kind_of(0);
  const std::size_t devices = kind.devices.size();
  const std::size_t cards = std::max<std::size_t>(1, kind.nics.size() / devices);
  if (topology.kinds.size() != 1 || topology.device_count() > kAcrossDevicesMax || devices < 2) return {};
  std::vector<Ring> orders;
  for (std::size_t first = 0; first < devices; ++first) {
    Ring ring;
    for (std::size_t host = 0; host < topology.hosts.size(); ++host) {
      for (std::size_t i = 0; i < devices; ++i)
        ring.push_back(static_cast<Rank>(host * devices + (first + i) % devices));
    }
    orders.insert(orders.end(), cards, ring);
  }
  return orders;
}

}  // namespace

std::vector<Ring> ring_orders(const topology::Topology& topology) {
  return topology.hosts.size() == 1 ? rings_inside(topology) : rings_across(topology);
}

}  // namespace tutti::planner

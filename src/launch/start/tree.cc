#include "launch/start/tree.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace tutti::launch {

namespace {

std::vector<Bough> grow(std::span<const HostIndex> hosts, std::size_t width) {
  const std::size_t count = std::min(width, hosts.size());
  std::vector<Bough> boughs;
  for (std::size_t index = 0; index < count; ++index) {
    // Shares differ by at most one, and neighbours in the list stay together.
    const std::size_t begin = hosts.size() * index / count;
    const std::size_t end = hosts.size() * (index + 1) / count;
    boughs.push_back({.host = hosts[begin], .boughs = grow(hosts.subspan(begin + 1, end - begin - 1), width)});
  }
  return boughs;
}

void collect(const Bough& bough, std::vector<HostIndex>& hosts) {
  hosts.push_back(bough.host);
  for (const Bough& below : bough.boughs) collect(below, hosts);
}

}  // namespace

std::vector<Bough> tree_of(const std::vector<HostIndex>& hosts, int width) {
  return grow(hosts, width <= 0 ? hosts.size() : static_cast<std::size_t>(width));
}

std::vector<HostIndex> hosts_of(const Bough& bough) {
  std::vector<HostIndex> hosts;
  collect(bough, hosts);
  return hosts;
}

int depth_of(const std::vector<Bough>& boughs) {
  int depth = 0;
  for (const Bough& bough : boughs) depth = std::max(depth, 1 + depth_of(bough.boughs));
  return depth;
}

const Bough* find_bough(const std::vector<Bough>& boughs, HostIndex host) {
  for (const Bough& bough : boughs) {
    if (bough.host == host) return &bough;
    if (const Bough* found = find_bough(bough.boughs, host)) return found;
  }
  return nullptr;
}

}  // namespace tutti::launch

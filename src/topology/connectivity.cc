#include "topology/connectivity.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tutti::topology {

namespace {

constexpr std::uint32_t kNever = ~std::uint32_t{0};

// Switches joined by links form islands; devices and cards stand on the shores of some of them.
class Islands {
 public:
  explicit Islands(const HostKind& kind)
      : parent_(kind.vertices.size()), shore_(parent_.size()), next_(parent_.size()) {
    std::iota(parent_.begin(), parent_.end(), 0u);
    const auto is_switch = [&](std::uint32_t v) { return kind.vertices[v].kind == VertexKind::switch_; };
    for (const Link& link : kind.links) {
      if (is_switch(link.a) && is_switch(link.b)) parent_[root(link.a)] = root(link.b);
    }
    for (const Link& link : kind.links) {
      if (is_switch(link.a) == is_switch(link.b)) {
        if (!is_switch(link.a)) next_[link.a].push_back(link.b), next_[link.b].push_back(link.a);
        continue;
      }
      const std::uint32_t end = is_switch(link.a) ? link.b : link.a;
      const std::uint32_t island = root(is_switch(link.a) ? link.a : link.b);
      shore_[island].push_back(end);
      next_[end].push_back(island);
    }
    // Parallel cables would only make the walk longer.
    for (auto* lists : {&shore_, &next_}) {
      for (std::vector<std::uint32_t>& list : *lists) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
      }
    }
  }

  // Calls visit(end) for each device and card that `from` reaches.
  template <class Visit>
  void for_each_reached(std::uint32_t from, const Visit& visit) const {
    for (const std::uint32_t next : next_[from]) {
      visit(next);  // an island visits itself: harmless, for it is a switch
      for (const std::uint32_t end : shore_[next]) visit(end);
    }
  }

 private:
  std::uint32_t root(std::uint32_t vertex) {
    while (parent_[vertex] != vertex) vertex = parent_[vertex] = parent_[parent_[vertex]];
    return vertex;
  }

  std::vector<std::uint32_t> parent_;
  std::vector<std::vector<std::uint32_t>> shore_;  // of an island, by its root
  std::vector<std::vector<std::uint32_t>> next_;   // of a device or card: islands, and what a cable joins directly
};

}  // namespace

std::optional<Gap> find_gap(const HostKind& kind) {
  const Islands islands(kind);
  std::vector<std::uint32_t> reached_from(kind.vertices.size(), kNever);
  for (const std::uint32_t from : kind.devices) {
    reached_from[from] = from;
    islands.for_each_reached(from, [&](std::uint32_t end) { reached_from[end] = from; });
    for (const std::uint32_t to : kind.devices) {
      if (reached_from[to] != from) return Gap{from, to};
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> find_device_without_nic(const HostKind& kind) {
  const Islands islands(kind);
  for (const std::uint32_t device : kind.devices) {
    bool found = false;
    islands.for_each_reached(device,
                             [&](std::uint32_t end) { found = found || kind.vertices[end].kind == VertexKind::nic; });
    if (!found) return device;
  }
  return std::nullopt;
}

}  // namespace tutti::topology

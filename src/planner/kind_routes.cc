#include "planner/kind_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>

#include "base/assert.h"

namespace tutti::planner {

using topology::HostKind;
using topology::Link;
using topology::Vertex;
using topology::VertexKind;

namespace {

// How good a path is: the least latency, then the most bandwidth, then the fewest hops. Whole picoseconds, so that sums
// in different order are equal when people would say so.
struct Label {
  std::uint64_t latency_ps = std::numeric_limits<std::uint64_t>::max();
  double narrowest_bytes_per_s = 0;
  std::uint32_t hop_count = 0;

  bool is_better_than(const Label& other) const {
    return std::tuple(latency_ps, -narrowest_bytes_per_s, hop_count) <
           std::tuple(other.latency_ps, -other.narrowest_bytes_per_s, other.hop_count);
  }
};

std::uint64_t picoseconds(double seconds) { return static_cast<std::uint64_t>(std::llround(seconds * 1e12)); }

struct Visit {
  Label label;
  std::uint32_t vertex;
};
struct IsWorse {
  bool operator()(const Visit& a, const Visit& b) const { return b.label.is_better_than(a.label); }
};

}  // namespace

KindRoutes::KindRoutes(const HostKind& kind)
    : vertex_count_(kind.vertices.size()),
      hops_from_(vertex_count_),
      device_vertices_(kind.devices),
      nic_vertices_(kind.nics),
      memory_links_(kind.devices.size(), kNone),
      memory_hops_(kind.devices.size(), kNone),
      backplane_links_(vertex_count_, kNone),
      arrivals_(kind.devices.size() * vertex_count_, kNone),
      nearest_nics_(kind.devices.size()) {
  number_links(kind);
  for (std::uint32_t device = 0; device < kind.devices.size(); ++device) {
    find_paths(kind, device);
    find_memory_hop(kind, device);
  }
}

void KindRoutes::number_links(const HostKind& kind) {
  const auto add = [this](const LocalLink& link) {
    links_.push_back(link);
    return static_cast<std::uint32_t>(links_.size() - 1);
  };
  for (const Link& cable : kind.links) {
    const LinkKind direction = cable.shared ? LinkKind::both_ways : LinkKind::one_way;
    const std::uint32_t there = add({direction, cable.a, cable.b, cable.bytes_per_s});
    const std::uint32_t back = cable.shared ? there : add({direction, cable.b, cable.a, cable.bytes_per_s});
    hops_from_[cable.a].push_back(static_cast<std::uint32_t>(hops_.size()));
    hops_.push_back({cable.a, there, back, cable.latency_s});
    hops_from_[cable.b].push_back(static_cast<std::uint32_t>(hops_.size()));
    hops_.push_back({cable.b, back, there, cable.latency_s});
  }
  for (std::uint32_t device = 0; device < kind.devices.size(); ++device) {
    const std::uint32_t v = kind.devices[device];
    const Vertex& vertex = kind.vertices[v];
    if (!vertex.memory_switch) memory_links_[device] = add({LinkKind::memory, v, v, vertex.memory_bytes_per_s});
  }
  for (std::uint32_t v = 0; v < vertex_count_; ++v) {
    const double limit = kind.vertices[v].backplane_bytes_per_s;
    if (limit != 0) backplane_links_[v] = add({LinkKind::backplane, v, v, limit});
  }
}

// Dijkstra's algorithm that goes on from switches only: devices and cards do not forward.
void KindRoutes::find_paths(const HostKind& kind, std::uint32_t device) {
  std::vector<Label> labels(vertex_count_);
  std::vector<bool> is_done(vertex_count_);
  std::uint32_t* const arrivals = arrivals_.data() + static_cast<std::size_t>(device) * vertex_count_;
  std::priority_queue<Visit, std::vector<Visit>, IsWorse> queue;
  const std::uint32_t source = kind.devices[device];
  labels[source] = {.latency_ps = 0, .narrowest_bytes_per_s = std::numeric_limits<double>::infinity(), .hop_count = 0};
  queue.push({labels[source], source});
  while (!queue.empty()) {
    const std::uint32_t vertex = queue.top().vertex;
    queue.pop();
    if (is_done[vertex]) continue;
    is_done[vertex] = true;
    if (vertex != source && kind.vertices[vertex].kind != VertexKind::switch_) continue;
    const double backplane = kind.vertices[vertex].backplane_bytes_per_s;
    for (const std::uint32_t h : hops_from_[vertex]) {
      const Link& cable = kind.links[h / 2];
      const std::uint32_t next = h % 2 == 0 ? cable.b : cable.a;
      Label label = labels[vertex];
      label.latency_ps += picoseconds(cable.latency_s);
      label.narrowest_bytes_per_s = std::min(label.narrowest_bytes_per_s, cable.bytes_per_s);
      if (backplane != 0) label.narrowest_bytes_per_s = std::min(label.narrowest_bytes_per_s, backplane);
      ++label.hop_count;
      if (is_done[next] || !label.is_better_than(labels[next])) continue;
      labels[next] = label;
      arrivals[next] = h;
      queue.push({label, next});
    }
  }
  std::uint64_t least_ps = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint32_t nic : kind.nics) least_ps = std::min(least_ps, labels[nic].latency_ps);
  for (std::uint32_t nic = 0; nic < kind.nics.size(); ++nic) {
    if (arrivals[kind.nics[nic]] != kNone && labels[kind.nics[nic]].latency_ps == least_ps) {
      nearest_nics_[device].push_back(nic);
    }
  }
}

void KindRoutes::find_memory_hop(const HostKind& kind, std::uint32_t device) {
  const std::uint32_t vertex = kind.devices[device];
  const auto memory = kind.vertices[vertex].memory_switch;
  if (!memory) return;
  std::uint32_t& best = memory_hops_[device];
  for (const std::uint32_t h : hops_from_[vertex]) {
    const Link& cable = kind.links[h / 2];
    if ((h % 2 == 0 ? cable.b : cable.a) != *memory) continue;
    const auto cost = [](const Link& link) { return std::tuple(picoseconds(link.latency_s), -link.bytes_per_s); };
    if (best == kNone || cost(cable) < cost(kind.links[best / 2])) best = h;
  }
  TUTTI_ASSERT(best != kNone, "a device is linked to the switch that is its memory");
}

void KindRoutes::add_path_to(std::uint32_t device, std::uint32_t vertex, std::uint32_t first_link,
                             plan::Route& route) const {
  const auto begin = static_cast<std::ptrdiff_t>(route.links.size());
  while (vertex != device_vertices_[device]) {
    const std::uint32_t h = arrival(device, vertex);
    TUTTI_ASSERT(h != kNone, "the devices and cards of a host are linked");
    const Hop& hop = hops_[h];
    route.links.push_back(first_link + hop.link);
    route.latency_s += hop.latency_s;
    vertex = hop.from;
    if (backplane_links_[vertex] != kNone) route.links.push_back(first_link + backplane_links_[vertex]);
  }
  std::reverse(route.links.begin() + begin, route.links.end());
}

void KindRoutes::add_path(Ends devices, std::uint32_t first_link, plan::Route& route) const {
  add_path_to(devices.from, device_vertices_[devices.to], first_link, route);
}

void KindRoutes::add_way_out(Exit exit, std::uint32_t first_link, plan::Route& route) const {
  add_path_to(exit.device, nic_vertices_[exit.nic], first_link, route);
}

// The way out, backwards: cables cost the same both ways.
void KindRoutes::add_way_in(Exit exit, std::uint32_t first_link, plan::Route& route) const {
  for (std::uint32_t vertex = nic_vertices_[exit.nic]; vertex != device_vertices_[exit.device];) {
    const Hop& hop = hops_[arrival(exit.device, vertex)];
    route.links.push_back(first_link + hop.reverse_link);
    route.latency_s += hop.latency_s;
    vertex = hop.from;
    if (backplane_links_[vertex] != kNone) route.links.push_back(first_link + backplane_links_[vertex]);
  }
}

void KindRoutes::add_memory(std::uint32_t device, std::uint32_t first_link, plan::Route& route) const {
  if (memory_links_[device] != kNone) {
    route.links.push_back(first_link + memory_links_[device]);
    return;
  }
  const std::uint32_t h = memory_hops_[device];
  route.links.push_back(first_link + hops_[h].link);
  route.latency_s += hops_[h].latency_s;
  const std::uint32_t memory = hops_[h ^ 1u].from;
  if (backplane_links_[memory] != kNone) route.links.push_back(first_link + backplane_links_[memory]);
}

std::string KindRoutes::link_name(const HostKind& kind, std::uint32_t link) const {
  const LocalLink& local = links_[link];
  const std::string& from = kind.vertices[local.from].name;
  const std::string& to = kind.vertices[local.to].name;
  switch (local.kind) {
    case LinkKind::one_way: return fmt::format("{}>{}", from, to);
    case LinkKind::both_ways: return fmt::format("{}<>{}", from, to);
    case LinkKind::memory: return fmt::format("{} memory", from);
    case LinkKind::backplane: return fmt::format("{} backplane", from);
  }
  return {};
}

}  // namespace tutti::planner

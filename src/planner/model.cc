#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "planner/kind_routes.h"
#include "tutti/planner.h"

namespace tutti::planner {

using topology::Attachment;
using topology::HostKind;
using topology::NetworkSwitch;
using topology::Topology;

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// Numbers its links host by host (what is inside), then host by host (two per card: up, down), then the uplinks of
// switches (up, down).
class TopologyModel final : public plan::Model {
 public:
  explicit TopologyModel(const Topology& topology);

  std::size_t link_count() const override { return first_uplink_ + 2 * limiting_switches_.size(); }
  double bytes_per_s(std::uint32_t link) const override;
  std::string link_name(std::uint32_t link) const override;
  plan::Route route(Rank from, Rank to, std::uint32_t lane) const override;
  double launch_s() const override { return topology_.launch_s; }
  double step_s() const override { return topology_.step_s; }

 private:
  // The part of the machine that a link belongs to, and the link's number within it.
  struct Position {
    std::uint32_t owner = 0;
    std::uint32_t offset = 0;
  };
  static Position position_in(const std::vector<std::uint32_t>& firsts, std::uint32_t link);

  void number_links();
  void find_limiting_switches();
  void add_climb(std::uint32_t from, std::uint32_t to, plan::Route& route) const;
  std::uint32_t common_ancestor(std::uint32_t a, std::uint32_t b) const;
  const KindRoutes& routes_of(std::uint32_t host) const { return routes_[topology_.hosts[host].kind]; }

  Topology topology_;
  std::vector<KindRoutes> routes_;          // per kind
  std::vector<std::uint32_t> host_of_;      // per rank
  std::vector<std::uint32_t> first_rank_;   // per host
  std::vector<std::uint32_t> first_link_;   // per host, then the end
  std::vector<std::uint32_t> first_cable_;  // per host, then the end
  std::uint32_t first_uplink_ = 0;
  std::vector<std::uint32_t> depth_of_;           // per switch
  std::vector<std::uint32_t> limiting_switches_;  // whose uplinks can be a bottleneck
  std::vector<std::uint32_t> limit_index_of_;     // per switch: position in limiting_switches_, or kNone
};

TopologyModel::TopologyModel(const Topology& topology) : topology_(topology) {
  for (const HostKind& kind : topology_.kinds) routes_.emplace_back(kind);
  for (std::uint32_t host = 0; host < topology_.hosts.size(); ++host) {
    first_rank_.push_back(static_cast<std::uint32_t>(host_of_.size()));
    host_of_.insert(host_of_.end(), topology_.kind_of(host).devices.size(), host);
  }
  TUTTI_ASSERT(topology_.hosts.size() <= 1 || topology_.attachments.size() == topology_.hosts.size(),
               "several hosts are joined by a network; parse() makes sure of it");
  find_limiting_switches();
  number_links();
}

void TopologyModel::number_links() {
  std::uint64_t next = 0;
  for (std::uint32_t host = 0; host < topology_.hosts.size(); ++host) {
    first_link_.push_back(static_cast<std::uint32_t>(next));
    next += routes_of(host).link_count();
  }
  first_link_.push_back(static_cast<std::uint32_t>(next));
  for (const std::vector<Attachment>& cables : topology_.attachments) {
    first_cable_.push_back(static_cast<std::uint32_t>(next));
    next += 2 * cables.size();
  }
  first_cable_.push_back(static_cast<std::uint32_t>(next));
  first_uplink_ = static_cast<std::uint32_t>(next);
  next += 2 * limiting_switches_.size();
  TUTTI_ASSERT(next < kNone, "links are numbered with 32 bits; the limits of topology files keep below");
}

// An uplink that carries at least what all cables below it carry together can never be the bottleneck: they are full
// first. Leaving it out keeps small the sets of transfers that share a link and have to be looked at together, and
// keeps the equal shares of the simulator from slowing streams that share such a link unevenly. In a fat tree of full
// bisection hosts then meet only at their own cables.
void TopologyModel::find_limiting_switches() {
  constexpr double kRounding = 1 - 1e-9;  // a sum of bandwidths such as 4.6 GB/s is not exact
  const std::size_t count = topology_.switches.size();
  depth_of_.assign(count, 0);
  limit_index_of_.assign(count, kNone);
  for (std::size_t s = 0; s < count; ++s) {
    for (auto above = topology_.switches[s].parent; above; above = topology_.switches[*above].parent) ++depth_of_[s];
  }
  std::vector<double> below_bytes_per_s(count, 0);
  for (const std::vector<Attachment>& cables : topology_.attachments) {
    for (const Attachment& cable : cables) below_bytes_per_s[cable.switch_index] += cable.bytes_per_s;
  }
  std::vector<std::uint32_t> deepest_first(count);
  std::iota(deepest_first.begin(), deepest_first.end(), 0u);
  std::stable_sort(deepest_first.begin(), deepest_first.end(),
                   [this](std::uint32_t a, std::uint32_t b) { return depth_of_[a] > depth_of_[b]; });
  for (const std::uint32_t s : deepest_first) {
    const NetworkSwitch& node = topology_.switches[s];
    if (!node.parent) continue;
    below_bytes_per_s[*node.parent] += std::min(node.up_bytes_per_s, below_bytes_per_s[s]);
    if (node.up_bytes_per_s >= below_bytes_per_s[s] * kRounding) continue;
    limit_index_of_[s] = static_cast<std::uint32_t>(limiting_switches_.size());
    limiting_switches_.push_back(s);
  }
}

TopologyModel::Position TopologyModel::position_in(const std::vector<std::uint32_t>& firsts, std::uint32_t link) {
  const auto after = std::upper_bound(firsts.begin(), firsts.end(), link);
  const auto owner = static_cast<std::uint32_t>(after - firsts.begin() - 1);
  return {.owner = owner, .offset = link - firsts[owner]};
}

double TopologyModel::bytes_per_s(std::uint32_t link) const {
  if (link >= first_uplink_) return topology_.switches[limiting_switches_[(link - first_uplink_) / 2]].up_bytes_per_s;
  if (link >= first_link_.back()) {
    const Position cable = position_in(first_cable_, link);
    return topology_.attachments[cable.owner][cable.offset / 2].bytes_per_s;
  }
  const Position inside = position_in(first_link_, link);
  return routes_of(inside.owner).bytes_per_s(inside.offset);
}

std::string TopologyModel::link_name(std::uint32_t link) const {
  const auto directed = [](bool is_down, const std::string& low, const std::string& high) {
    return is_down ? fmt::format("{}>{}", high, low) : fmt::format("{}>{}", low, high);
  };
  if (link >= first_uplink_) {
    const NetworkSwitch& node = topology_.switches[limiting_switches_[(link - first_uplink_) / 2]];
    return directed((link - first_uplink_) % 2 == 1, node.name, topology_.switches[*node.parent].name);
  }
  if (link >= first_link_.back()) {
    const Position cable = position_in(first_cable_, link);
    const HostKind& kind = topology_.kind_of(cable.owner);
    const std::uint32_t nic = cable.offset / 2;
    return directed(cable.offset % 2 == 1,
                    fmt::format("{}.{}", topology_.hosts[cable.owner].name, kind.vertices[kind.nics[nic]].name),
                    topology_.switches[topology_.attachments[cable.owner][nic].switch_index].name);
  }
  const Position inside = position_in(first_link_, link);
  return fmt::format("{}.{}", topology_.hosts[inside.owner].name,
                     routes_of(inside.owner).link_name(topology_.kind_of(inside.owner), inside.offset));
}

std::uint32_t TopologyModel::common_ancestor(std::uint32_t a, std::uint32_t b) const {
  while (a != b) {
    std::uint32_t& deeper = depth_of_[a] >= depth_of_[b] ? a : b;
    deeper = *topology_.switches[deeper].parent;
  }
  return a;
}

void TopologyModel::add_climb(std::uint32_t from, std::uint32_t to, plan::Route& route) const {
  const std::uint32_t top = common_ancestor(from, to);
  const auto climb = [&](std::uint32_t node, std::uint32_t direction) {
    for (; node != top; node = *topology_.switches[node].parent) {
      route.latency_s += topology_.switches[node].up_latency_s;
      if (limit_index_of_[node] != kNone) route.links.push_back(first_uplink_ + 2 * limit_index_of_[node] + direction);
    }
  };
  climb(from, 0);
  const auto turn = static_cast<std::ptrdiff_t>(route.links.size());
  climb(to, 1);
  std::reverse(route.links.begin() + turn, route.links.end());
}

plan::Route TopologyModel::route(Rank from, Rank to, std::uint32_t lane) const {
  const std::uint32_t from_host = host_of_[static_cast<std::size_t>(from)];
  const std::uint32_t to_host = host_of_[static_cast<std::size_t>(to)];
  const std::uint32_t from_device = static_cast<std::uint32_t>(from) - first_rank_[from_host];
  const std::uint32_t to_device = static_cast<std::uint32_t>(to) - first_rank_[to_host];
  const KindRoutes& from_routes = routes_of(from_host);
  const KindRoutes& to_routes = routes_of(to_host);
  plan::Route route;
  if (from == to) {
    from_routes.add_memory(from_device, first_link_[from_host], route);
    return route;
  }
  if (from_host == to_host) {
    from_routes.add_path({.from = from_device, .to = to_device}, first_link_[from_host], route);
    return route;
  }
  const auto from_nics = from_routes.nearest_nics(from_device);
  const auto to_nics = to_routes.nearest_nics(to_device);
  const std::uint32_t from_nic = from_nics[lane % from_nics.size()];
  const std::uint32_t to_nic = to_nics[lane % to_nics.size()];
  const Attachment& from_cable = topology_.attachments[from_host][from_nic];
  const Attachment& to_cable = topology_.attachments[to_host][to_nic];
  from_routes.add_way_out({.device = from_device, .nic = from_nic}, first_link_[from_host], route);
  route.links.push_back(first_cable_[from_host] + 2 * from_nic);
  add_climb(from_cable.switch_index, to_cable.switch_index, route);
  route.links.push_back(first_cable_[to_host] + 2 * to_nic + 1);
  to_routes.add_way_in({.device = to_device, .nic = to_nic}, first_link_[to_host], route);
  route.latency_s += from_cable.latency_s + to_cable.latency_s;
  return route;
}

}  // namespace

std::unique_ptr<plan::Model> create_model(const Topology& topology) {
  return std::make_unique<TopologyModel>(topology);
}

}  // namespace tutti::planner

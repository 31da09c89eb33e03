// The paths inside one kind of host, found once and shared by all its hosts. Links here are numbered from zero; a host
// adds its own first number.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tutti/simulate.h"
#include "tutti/topology.h"

namespace tutti::planner {

class KindRoutes {
 public:
  explicit KindRoutes(const topology::HostKind& kind);

  std::uint32_t link_count() const { return static_cast<std::uint32_t>(links_.size()); }
  double bytes_per_s(std::uint32_t link) const { return links_[link].bytes_per_s; }
  // "gpu2>nvswitch", "gpu2<>nvswitch" when both directions share it, "gpu2 memory", "dram backplane".
  std::string link_name(const topology::HostKind& kind, std::uint32_t link) const;

  // The network cards nearest to a device: positions in kind.nics, all of the same least latency.
  std::span<const std::uint32_t> nearest_nics(std::uint32_t device) const { return nearest_nics_[device]; }

  // These append to a route. Devices and cards are positions in kind.devices and kind.nics.
  struct Ends {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };
  void add_path(Ends devices, std::uint32_t first_link, plan::Route& route) const;
  void add_memory(std::uint32_t device, std::uint32_t first_link, plan::Route& route) const;
  struct Exit {
    std::uint32_t device = 0;
    std::uint32_t nic = 0;
  };
  void add_way_out(Exit exit, std::uint32_t first_link, plan::Route& route) const;
  void add_way_in(Exit exit, std::uint32_t first_link, plan::Route& route) const;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  enum class LinkKind : std::uint8_t { one_way, both_ways, memory, backplane };
  struct LocalLink {
    LinkKind kind;
    std::uint32_t from;  // vertex
    std::uint32_t to;
    double bytes_per_s;
  };
  // A cable taken in one direction.
  struct Hop {
    std::uint32_t from;  // vertex
    std::uint32_t link;
    std::uint32_t reverse_link;
    double latency_s;
  };

  void number_links(const topology::HostKind& kind);
  void find_paths(const topology::HostKind& kind, std::uint32_t device);
  void find_memory_hop(const topology::HostKind& kind, std::uint32_t device);
  std::uint32_t arrival(std::uint32_t device, std::uint32_t vertex) const {
    return arrivals_[static_cast<std::size_t>(device) * vertex_count_ + vertex];
  }
  void add_path_to(std::uint32_t device, std::uint32_t vertex, std::uint32_t first_link, plan::Route& route) const;

  std::size_t vertex_count_;
  std::vector<LocalLink> links_;
  std::vector<Hop> hops_;                              // 2 * cable + (0: a to b, 1: b to a)
  std::vector<std::vector<std::uint32_t>> hops_from_;  // per vertex
  std::vector<std::uint32_t> device_vertices_;
  std::vector<std::uint32_t> nic_vertices_;
  std::vector<std::uint32_t> memory_links_;     // per device; kNone: its memory is a switch
  std::vector<std::uint32_t> memory_hops_;      // per device: the hop to that switch
  std::vector<std::uint32_t> backplane_links_;  // per vertex; kNone: no limit
  // Per device, per vertex: the last hop of the path there. One number each instead of whole paths keeps a host of
  // thousands of devices within megabytes.
  std::vector<std::uint32_t> arrivals_;
  std::vector<std::vector<std::uint32_t>> nearest_nics_;
};

}  // namespace tutti::planner

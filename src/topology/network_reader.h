// Reads the lines of a topology file that join hosts by a tree of switches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/line.h"
#include "tutti/topology.h"

namespace tutti::topology {

class NetworkReader {
 public:
  // Adds to `topology`, whose hosts are complete; `host_of` knows them by name.
  NetworkReader(std::uint32_t line, Topology& topology, const NameIndex& host_of);

  static bool is_keyword(std::string_view word);
  static const std::vector<std::string>& keywords();

  // A line whose keyword is one of these.
  Status read(const Line& line);
  // After the last line. `kind_lines`: where each kind of host begins.
  Status finish(const std::vector<std::uint32_t>& kind_lines);

 private:
  // A host with all its cards, or one of them.
  struct HostEnd {
    std::uint32_t host = 0;
    std::optional<std::uint32_t> nic;
  };

  Status read_switches(const Line& line);
  Status read_network_link(const Line& line);
  Status join_switches(const Line& line, const LinkLine& cable);
  Status attach_hosts(const Line& line, const LinkLine& cable);
  Status attach(const Line& line, HostEnd end, const Attachment& attachment);
  Status attach_nic(const Line& line, HostEnd end, const Attachment& attachment);
  Status set_parent(const Line& line, std::uint32_t below, const NetworkSwitch& uplink);
  Result<std::vector<std::uint32_t>> switches_of(const Line& line, std::string_view list) const;
  Result<std::vector<HostEnd>> host_ends_of(const Line& line, std::string_view list);
  Status add_host_ends(const Line& line, std::string_view item, std::vector<HostEnd>& ends);
  Status add_picked_nics(const Line& line, std::uint32_t host, const std::vector<std::string>& nics,
                         std::vector<HostEnd>& ends);
  Status check_tree() const;
  const std::string& nic_name(std::uint32_t host, std::uint32_t nic) const;

  std::uint32_t line_;
  Topology& topology_;
  const NameIndex& host_of_;
  NameIndex switch_of_;
  std::vector<NameIndex> nic_of_;                        // per kind of host, filled when a line picks cards of it
  std::vector<std::vector<std::uint32_t>> attached_at_;  // per host and card: the line, 0: not yet
};

}  // namespace tutti::topology

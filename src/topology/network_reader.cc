#include "topology/network_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "topology/connectivity.h"
#include "topology/limits.h"
#include "topology/names.h"

namespace tutti::topology {

NetworkReader::NetworkReader(std::uint32_t line, Topology& topology, const NameIndex& host_of)
    : line_(line), topology_(topology), host_of_(host_of), nic_of_(topology.kinds.size()) {
  for (std::uint32_t host = 0; host < topology_.hosts.size(); ++host) {
    const std::size_t nic_count = topology_.kind_of(host).nics.size();
    topology_.attachments.emplace_back(nic_count);
    attached_at_.emplace_back(nic_count, 0u);
  }
}

const std::vector<std::string>& NetworkReader::keywords() {
  static const std::vector<std::string> words = {"switch", "link"};
  return words;
}

bool NetworkReader::is_keyword(std::string_view word) {
  return std::find(keywords().begin(), keywords().end(), word) != keywords().end();
}

Status NetworkReader::read(const Line& line) {
  return line.keyword() == "switch" ? read_switches(line) : read_network_link(line);
}

Status NetworkReader::read_switches(const Line& line) {
  if (line.words.size() < 2) {
    return error_at(line.number, "'switch' has no name; write 'switch NAME' or 'switch NAME[0-7]'");
  }
  TUTTI_TRY(read_attributes(line, 2, {}).status());
  auto names = expand(line.words[1], kSwitchCountMax);
  if (!names) return error_at(line.number, names.status().text());
  for (std::string& name : *names) {
    const auto index = static_cast<std::uint32_t>(topology_.switches.size());
    if (index >= kSwitchCountMax) {
      return error_at(line.number,
                      fmt::format("'{}' is one too many: a network has at most {} switches", name, kSwitchCountMax));
    }
    if (host_of_.contains(name) || !switch_of_.emplace(name, index).second) {
      return error_at(line.number, fmt::format("'{}' exists already; choose another name", name));
    }
    topology_.switches.push_back({.name = std::move(name), .parent = std::nullopt});
  }
  return {};
}

Status NetworkReader::read_network_link(const Line& line) {
  static const std::vector<std::string> known = {"bandwidth", "latency"};
  TUTTI_ASSIGN(const LinkLine cable, read_link(line, known));
  // The first name of the first list decides what the line joins; the readers below check the others.
  const std::string_view first_item = list_items(cable.first).front();
  auto first_names = expand(first_item.substr(0, first_item.find('.')), kListNamesMax);
  if (!first_names) return error_at(line.number, first_names.status().text());
  return switch_of_.contains(first_names->front()) ? join_switches(line, cable) : attach_hosts(line, cable);
}

Result<std::vector<std::uint32_t>> NetworkReader::switches_of(const Line& line, std::string_view list) const {
  const auto names = expand(list, kListNamesMax);
  if (!names) return error_at(line.number, names.status().text());
  std::vector<std::uint32_t> switches;
  for (const std::string& name : *names) {
    if (host_of_.contains(name)) {
      return error_at(line.number,
                      fmt::format("'{}' is a host, but a switch is expected here; write hosts first: 'link "
                                  "HOSTS SWITCHES ...'",
                                  name));
    }
    const auto found = switch_of_.find(name);
    if (found == switch_of_.end()) {
      return error_at(line.number, fmt::format("'{}' is not a switch of the network{}", name,
                                               suggest(name, switch_of_, "declare it in a line above this one")));
    }
    switches.push_back(found->second);
  }
  return switches;
}

Status NetworkReader::join_switches(const Line& line, const LinkLine& cable) {
  TUTTI_ASSIGN(const auto below, switches_of(line, cable.first));
  TUTTI_ASSIGN(const auto above, switches_of(line, cable.second));
  TUTTI_ASSIGN(const Pairing pairing, pair_up(line, {.first = below.size(), .second = above.size()}));
  for (std::size_t i = 0; i < pairing.count; ++i) {
    TUTTI_TRY(set_parent(line, below[i / pairing.first_repeat],
                         {.name = {},
                          .parent = above[i / pairing.second_repeat],
                          .up_bytes_per_s = cable.bytes_per_s,
                          .up_latency_s = cable.latency_s}));
  }
  return {};
}

Status NetworkReader::set_parent(const Line& line, std::uint32_t below, const NetworkSwitch& uplink) {
  NetworkSwitch& node = topology_.switches[below];
  const std::string& above = topology_.switches[*uplink.parent].name;
  if (node.parent) {
    return error_at(line.number,
                    fmt::format("switch '{}' hangs already below '{}', so it cannot hang below '{}' too: "
                                "the network is a tree; write parallel switches as one of their bandwidths "
                                "together",
                                node.name, topology_.switches[*node.parent].name, above));
  }
  // Walks up at most the allowed depth; finish() finds what is deeper.
  std::optional<std::uint32_t> ancestor = uplink.parent;
  for (std::size_t i = 0; ancestor && i <= kNetworkDepthMax; ++i) {
    if (*ancestor == below) {
      return error_at(line.number, fmt::format("'{}' below '{}' closes a circle: the network is a tree; the first of a "
                                               "link hangs below the second",
                                               node.name, above));
    }
    ancestor = topology_.switches[*ancestor].parent;
  }
  node.parent = uplink.parent;
  node.up_bytes_per_s = uplink.up_bytes_per_s;
  node.up_latency_s = uplink.up_latency_s;
  return {};
}

Status NetworkReader::attach_hosts(const Line& line, const LinkLine& cable) {
  TUTTI_ASSIGN(const auto ends, host_ends_of(line, cable.first));
  TUTTI_ASSIGN(const auto switches, switches_of(line, cable.second));
  TUTTI_ASSIGN(const Pairing pairing, pair_up(line, {.first = ends.size(), .second = switches.size()}));
  for (std::size_t i = 0; i < pairing.count; ++i) {
    TUTTI_TRY(attach(line, ends[i / pairing.first_repeat],
                     {.switch_index = switches[i / pairing.second_repeat],
                      .bytes_per_s = cable.bytes_per_s,
                      .latency_s = cable.latency_s}));
  }
  return {};
}

Result<std::vector<NetworkReader::HostEnd>> NetworkReader::host_ends_of(const Line& line, std::string_view list) {
  std::vector<HostEnd> ends;
  for (const std::string_view item : list_items(list)) TUTTI_TRY(add_host_ends(line, item, ends));
  return ends;
}

Status NetworkReader::add_host_ends(const Line& line, std::string_view item, std::vector<HostEnd>& ends) {
  const std::size_t dot = item.find('.');
  const auto hosts = expand(item.substr(0, dot), kListNamesMax - ends.size());
  if (!hosts) return error_at(line.number, hosts.status().text());
  std::vector<std::string> nics;
  if (dot != std::string_view::npos) {
    auto picked = expand(item.substr(dot + 1), kHostVertexCountMax);
    if (!picked) return error_at(line.number, picked.status().text());
    nics = *std::move(picked);
  }
  if (ends.size() + hosts->size() * std::max<std::size_t>(nics.size(), 1) > kListNamesMax) {
    return error_at(line.number, fmt::format("the list {} makes more than {} names", in_quotes(item), kListNamesMax));
  }
  for (const std::string& name : *hosts) {
    const auto found = host_of_.find(name);
    if (found == host_of_.end()) {
      return error_at(line.number, fmt::format("'{}' is neither a host nor a switch of the network{}", name,
                                               suggest(name, host_of_, "declare it in a line above this one")));
    }
    if (nics.empty()) {
      ends.push_back({.host = found->second, .nic = std::nullopt});
    } else {
      TUTTI_TRY(add_picked_nics(line, found->second, nics, ends));
    }
  }
  return {};
}

Status NetworkReader::add_picked_nics(const Line& line, std::uint32_t host, const std::vector<std::string>& nics,
                                      std::vector<HostEnd>& ends) {
  const HostKind& kind = topology_.kind_of(host);
  NameIndex& nic_of = nic_of_[topology_.hosts[host].kind];
  if (nic_of.empty()) {
    for (std::uint32_t nic = 0; nic < kind.nics.size(); ++nic) nic_of.emplace(kind.vertices[kind.nics[nic]].name, nic);
  }
  for (const std::string& name : nics) {
    const auto found = nic_of.find(name);
    if (found == nic_of.end()) {
      return error_at(line.number, fmt::format("'{}' is not a nic of host '{}'{}", name, topology_.hosts[host].name,
                                               suggest(name, nic_of, "declare it with 'nic' in that host")));
    }
    ends.push_back({.host = host, .nic = found->second});
  }
  return {};
}

Status NetworkReader::attach(const Line& line, HostEnd end, const Attachment& attachment) {
  if (end.nic) return attach_nic(line, end, attachment);
  const std::size_t nic_count = topology_.kind_of(end.host).nics.size();
  if (nic_count == 0) {
    return error_at(line.number, fmt::format("host '{}' has no nic to link to the network; add 'nic NAME' to it and "
                                             "link its devices to that",
                                             topology_.hosts[end.host].name));
  }
  for (std::uint32_t nic = 0; nic < nic_count; ++nic) {
    TUTTI_TRY(attach_nic(line, {.host = end.host, .nic = nic}, attachment));
  }
  return {};
}

Status NetworkReader::attach_nic(const Line& line, HostEnd end, const Attachment& attachment) {
  std::uint32_t& attached_at = attached_at_[end.host][*end.nic];
  if (attached_at != 0) {
    return error_at(line.number,
                    fmt::format("nic '{}.{}' is linked already by line {}; a nic has one cable",
                                topology_.hosts[end.host].name, nic_name(end.host, *end.nic), attached_at));
  }
  attached_at = line.number;
  topology_.attachments[end.host][*end.nic] = attachment;
  return {};
}

const std::string& NetworkReader::nic_name(std::uint32_t host, std::uint32_t nic) const {
  const HostKind& kind = topology_.kind_of(host);
  return kind.vertices[kind.nics[nic]].name;
}

Status NetworkReader::check_tree() const {
  std::optional<std::uint32_t> root;
  for (std::uint32_t s = 0; s < topology_.switches.size(); ++s) {
    const NetworkSwitch& node = topology_.switches[s];
    if (!node.parent && root) {
      return error_at(line_,
                      fmt::format("the network falls apart: neither '{}' nor '{}' hangs below a switch; link one "
                                  "below the other, or both below a third",
                                  topology_.switches[*root].name, node.name));
    }
    if (!node.parent) root = s;
    std::size_t depth = 1;
    for (auto above = node.parent; above; above = topology_.switches[*above].parent) {
      if (++depth > kNetworkDepthMax) {
        return error_at(line_, fmt::format("switch '{}' has more than {} switches above it, or hangs below itself",
                                           node.name, kNetworkDepthMax - 1));
      }
    }
  }
  if (!root) return error_at(line_, "the network has no switch; add 'switch NAME' and link the hosts to it");
  return {};
}

Status NetworkReader::finish(const std::vector<std::uint32_t>& kind_lines) {
  for (std::size_t k = 0; k < topology_.kinds.size(); ++k) {
    const HostKind& kind = topology_.kinds[k];
    if (kind.nics.empty()) {
      return error_at(kind_lines[k],
                      "this host has no nic, but there is a network; add 'nic NAME' and link its devices "
                      "to that");
    }
    if (const auto device = find_device_without_nic(kind)) {
      return error_at(kind_lines[k],
                      fmt::format("device '{}' of this host reaches no nic, but there is a network; link "
                                  "it to one, or to a switch that is",
                                  kind.vertices[*device].name));
    }
  }
  TUTTI_TRY(check_tree());
  for (std::uint32_t host = 0; host < attached_at_.size(); ++host) {
    for (std::uint32_t nic = 0; nic < attached_at_[host].size(); ++nic) {
      if (attached_at_[host][nic] != 0) continue;
      return error_at(line_, fmt::format("nic '{0}.{1}' is not linked to the network; add 'link {0}.{1} SWITCH "
                                         "bandwidth=...'",
                                         topology_.hosts[host].name, nic_name(host, nic)));
    }
  }
  return {};
}

}  // namespace tutti::topology

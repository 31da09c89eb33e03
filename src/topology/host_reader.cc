#include "topology/host_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "topology/connectivity.h"
#include "topology/limits.h"
#include "topology/names.h"

namespace tutti::topology {

const std::vector<std::string>& HostReader::keywords() {
  static const std::vector<std::string> words = {"device", "switch", "nic", "link", "reach"};
  return words;
}

bool HostReader::is_keyword(std::string_view word) {
  return std::find(keywords().begin(), keywords().end(), word) != keywords().end();
}

Status HostReader::read(const Line& line) {
  if (line.keyword() == "device") return read_vertices(line, VertexKind::device);
  if (line.keyword() == "switch") return read_vertices(line, VertexKind::switch_);
  if (line.keyword() == "nic") return read_vertices(line, VertexKind::nic);
  if (line.keyword() == "link") return read_host_link(line);
  return read_reach(line);
}

Status HostReader::read_vertices(const Line& line, VertexKind kind) {
  if (line.words.size() < 2) {
    return error_at(line.number, fmt::format("'{0}' has no name; write '{0} NAME' or '{0} NAME[0-7]'", line.keyword()));
  }
  static const std::vector<std::string> of_device = {"memory"};
  static const std::vector<std::string> of_switch = {"bandwidth"};
  static const std::vector<std::string> of_nic = {};
  const auto& known = kind == VertexKind::device ? of_device : kind == VertexKind::switch_ ? of_switch : of_nic;
  TUTTI_ASSIGN(const Attributes attributes, read_attributes(line, 2, known));
  auto names = expand(line.words[1], kHostVertexCountMax);
  if (!names) return error_at(line.number, names.status().text());
  for (std::string& name : *names) {
    Vertex vertex;
    vertex.kind = kind;
    vertex.name = std::move(name);
    if (kind == VertexKind::device) TUTTI_TRY(read_memory(line, attributes, vertex));
    vertex.backplane_bytes_per_s = attributes.bandwidth.value_or(0);
    TUTTI_TRY(add_vertex(line, std::move(vertex)));
  }
  return {};
}

Status HostReader::read_memory(const Line& line, const Attributes& attributes, Vertex& device) {
  if (!attributes.memory) {
    return error_at(line.number, fmt::format("device '{}' has no memory; add memory=RATE such as memory=1300GB/s, or "
                                             "memory=NAME with the switch that is its memory",
                                             device.name));
  }
  const std::string_view memory = *attributes.memory;
  const char first = memory.front();
  if ((first >= '0' && first <= '9') || first == '.' || first == '-' || first == '+') {
    TUTTI_ASSIGN(device.memory_bytes_per_s, read_rate(line, "memory", memory));
    return {};
  }
  if (memory.size() > kNameLengthMax) {
    return error_at(line.number, fmt::format("memory={} is neither a rate nor a name", in_quotes(memory)));
  }
  const auto next_vertex = static_cast<std::uint32_t>(kind_.vertices.size());
  memory_names_.push_back({.device = next_vertex, .line = line.number, .name = std::string(memory)});
  return {};
}

Status HostReader::add_vertex(const Line& line, Vertex vertex) {
  if (kind_.vertices.size() >= kHostVertexCountMax || totals_.vertex_count >= kKindVertexCountMax) {
    return error_at(line.number, fmt::format("'{}' is one too many: a host has at most {} devices, switches and nics, "
                                             "and all kinds of hosts together {}",
                                             vertex.name, kHostVertexCountMax, kKindVertexCountMax));
  }
  const auto index = static_cast<std::uint32_t>(kind_.vertices.size());
  if (!vertex_of_.emplace(vertex.name, index).second) {
    return error_at(line.number, fmt::format("'{}' exists already in this host; choose another name", vertex.name));
  }
  if (vertex.kind == VertexKind::device) kind_.devices.push_back(index);
  if (vertex.kind == VertexKind::nic) kind_.nics.push_back(index);
  kind_.vertices.push_back(std::move(vertex));
  ++totals_.vertex_count;
  return {};
}

Result<std::vector<std::uint32_t>> HostReader::vertices_of(const Line& line, std::string_view list) const {
  const auto names = expand(list, kHostLinkCountMax);
  if (!names) return error_at(line.number, names.status().text());
  std::vector<std::uint32_t> vertices;
  for (const std::string& name : *names) {
    const auto found = vertex_of_.find(name);
    if (found == vertex_of_.end()) {
      return error_at(line.number, fmt::format("'{}' is not a device, switch or nic of this host{}", name,
                                               suggest(name, vertex_of_, "declare it in a line above this one")));
    }
    vertices.push_back(found->second);
  }
  return vertices;
}

Status HostReader::read_host_link(const Line& line) {
  static const std::vector<std::string> known = {"bandwidth", "latency", "shared"};
  TUTTI_ASSIGN(const LinkLine cable, read_link(line, known));
  TUTTI_ASSIGN(const auto first, vertices_of(line, cable.first));
  TUTTI_ASSIGN(const auto second, vertices_of(line, cable.second));
  TUTTI_ASSIGN(const Pairing pairing, pair_up(line, {.first = first.size(), .second = second.size()}));
  if (kind_.links.size() + pairing.count > kHostLinkCountMax ||
      totals_.link_count + pairing.count > kKindLinkCountMax) {
    return error_at(line.number, fmt::format("this makes too many links: a host has at most {}, and all kinds of hosts "
                                             "together {}; join the devices by a switch",
                                             kHostLinkCountMax, kKindLinkCountMax));
  }
  for (std::size_t i = 0; i < pairing.count; ++i) {
    const Link link{.a = first[i / pairing.first_repeat],
                    .b = second[i / pairing.second_repeat],
                    .bytes_per_s = cable.bytes_per_s,
                    .latency_s = cable.latency_s,
                    .shared = cable.shared};
    if (link.a == link.b) {
      return error_at(line.number, fmt::format("'{}' is linked to itself; remove it from one of the lists",
                                               kind_.vertices[link.a].name));
    }
    kind_.links.push_back(link);
  }
  totals_.link_count += pairing.count;
  return {};
}

Status HostReader::read_reach(const Line& line) {
  if (line.words.size() != 2 || (line.words[1] != "all" && line.words[1] != "none")) {
    return error_at(line.number, fmt::format("'reach' takes 'all' or 'none', not {}",
                                             in_quotes(line.words.size() < 2 ? std::string_view() : line.words[1])));
  }
  if (has_reach_) return error_at(line.number, "'reach' stands twice in this host; keep one");
  has_reach_ = true;
  kind_.reach = line.words[1] == "all";
  return {};
}

Status HostReader::resolve_memory() {
  for (const MemoryName& memory : memory_names_) {
    Vertex& device = kind_.vertices[memory.device];
    const auto found = vertex_of_.find(memory.name);
    if (found == vertex_of_.end() || kind_.vertices[found->second].kind != VertexKind::switch_) {
      NameIndex switches;
      for (std::uint32_t v = 0; v < kind_.vertices.size(); ++v) {
        if (kind_.vertices[v].kind == VertexKind::switch_) switches.emplace(kind_.vertices[v].name, v);
      }
      return error_at(memory.line, fmt::format("memory={} of device '{}' is neither a rate nor a switch of this host{}",
                                               in_quotes(memory.name), device.name,
                                               suggest(memory.name, switches,
                                                       "add 'switch NAME' for the memory, or "
                                                       "write a rate such as 1300GB/s")));
    }
    device.memory_switch = found->second;
  }
  std::vector<bool> is_linked(kind_.vertices.size());
  for (const Link& link : kind_.links) {
    if (kind_.vertices[link.a].memory_switch == link.b) is_linked[link.a] = true;
    if (kind_.vertices[link.b].memory_switch == link.a) is_linked[link.b] = true;
  }
  for (const MemoryName& memory : memory_names_) {
    if (is_linked[memory.device]) continue;
    return error_at(memory.line, fmt::format("device '{0}' has its memory in '{1}' but no link to it; add 'link {0} "
                                             "{1} bandwidth=...'",
                                             kind_.vertices[memory.device].name, memory.name));
  }
  return {};
}

Result<HostKind> HostReader::finish() {
  if (kind_.devices.empty()) {
    return error_at(line_, "this host has no device; add 'device NAME memory=...' below it");
  }
  TUTTI_TRY(resolve_memory());
  if (const auto gap = find_gap(kind_)) {
    return error_at(line_, fmt::format("device '{}' of this host cannot reach device '{}'; add links: traffic passes "
                                       "through switches, but not through devices or nics",
                                       kind_.vertices[gap->from].name, kind_.vertices[gap->to].name));
  }
  return std::move(kind_);
}

}  // namespace tutti::topology

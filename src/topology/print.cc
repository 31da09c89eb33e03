#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/text.h"
#include "topology/names.h"
#include "tutti/topology.h"

namespace tutti::topology {

namespace {

using Names = std::span<const std::string>;

struct Unit {
  std::string_view name;
  double factor;
};

// The shortest text that reads back as exactly this value.
std::string exact(double value, std::span<const Unit> units, std::optional<double> (*read)(std::string_view)) {
  constexpr int kDecimalsMax = 12;
  constexpr std::size_t kDigitsMax = 400;  // the smallest double has fewer behind its point
  std::array<char, kDigitsMax> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), value, std::chars_format::fixed).ptr;
  std::string best = std::string(digits.begin(), end) + std::string(units.front().name);
  for (const Unit& unit : units) {
    for (int decimals = 0; decimals <= kDecimalsMax; ++decimals) {
      std::string text = fmt::format("{:.{}f}{}", value / unit.factor, decimals, unit.name);
      if (text.size() >= best.size() || read(text) != value) continue;
      best = std::move(text);
    }
  }
  return best;
}

std::string rate(double bytes_per_s) {
  static constexpr std::array<Unit, 5> kUnits = {
      {{"B/s", 1}, {"GB/s", 1e9}, {"TB/s", 1e12}, {"MB/s", 1e6}, {"KB/s", 1e3}}};
  return exact(bytes_per_s, kUnits, text::rate_of);
}

std::string seconds(double value) {
  static constexpr std::array<Unit, 4> kUnits = {{{"s", 1}, {"us", 1e-6}, {"ms", 1e-3}, {"ns", 1e-9}}};
  return exact(value, kUnits, text::seconds_of);
}

// One value of `names` per block of k equal ones, for the largest k.
std::vector<std::string> compressed(Names names) {
  std::size_t repeat = 0;
  for (std::size_t begin = 0, end = 0; begin < names.size(); begin = end) {
    while (end < names.size() && names[end] == names[begin]) ++end;
    repeat = repeat == 0 ? end - begin : std::min(repeat, end - begin);
  }
  for (; repeat > 1; --repeat) {
    if (names.size() % repeat != 0) continue;
    std::size_t i = 0;
    while (i < names.size() && names[i] == names[i - i % repeat]) ++i;
    if (i == names.size()) break;
  }
  std::vector<std::string> blocks;
  for (std::size_t i = 0; i < names.size(); i += std::max<std::size_t>(repeat, 1)) blocks.push_back(names[i]);
  return blocks;
}

// Pairs (first[i], second[i]) of equal cables.
struct Pairs {
  std::vector<std::string> first;
  std::vector<std::string> second;
};

std::size_t constant_length(Names names) {
  std::size_t length = 1;
  while (length < names.size() && names[length] == names[0]) ++length;
  return length;
}

// Appends link lines that read back as these pairs in this order.
void add_links(const Pairs& pairs, std::string_view attributes, std::string& text) {
  constexpr std::size_t kLineLength = 120;
  constexpr std::ptrdiff_t kCommasMax = 2;
  const Names first(pairs.first);
  const Names second(pairs.second);
  const auto first_blocks = compressed(first);
  const auto second_blocks = compressed(second);
  // Only one list may be compressed: two lists of n pair up one to one again.
  const std::string line = first_blocks.size() <= second_blocks.size()
                               ? fmt::format("  link {} {}{}\n", fold(first_blocks), fold(second), attributes)
                               : fmt::format("  link {} {}{}\n", fold(first), fold(second_blocks), attributes);
  // Longer lists and those of many ranges pair up just as well, but nobody can see how.
  if (line.size() <= kLineLength && std::count(line.begin(), line.end(), ',') <= kCommasMax) {
    text += line;
    return;
  }
  for (std::size_t i = 0; i < first.size();) {
    const std::size_t same_first = constant_length(first.subspan(i));
    const std::size_t same_second = constant_length(second.subspan(i));
    text += same_first > same_second
                ? fmt::format("  link {} {}{}\n", first[i], fold(second.subspan(i, same_first)), attributes)
                : fmt::format("  link {} {}{}\n", fold(first.subspan(i, same_second)), second[i], attributes);
    i += std::max(same_first, same_second);
  }
}

std::string cable_text(double bytes_per_s, double latency_s) {
  std::string text = fmt::format(" bandwidth={}", rate(bytes_per_s));
  if (latency_s != 0) text += fmt::format(" latency={}", seconds(latency_s));
  return text;
}

void print_vertices(const HostKind& kind, std::string& text) {
  const auto is_alike = [](const Vertex& a, const Vertex& b) {
    return a.kind == b.kind && a.memory_bytes_per_s == b.memory_bytes_per_s && a.memory_switch == b.memory_switch &&
           a.backplane_bytes_per_s == b.backplane_bytes_per_s && prefix_of(a.name) == prefix_of(b.name);
  };
  for (std::size_t i = 0; i < kind.vertices.size();) {
    const Vertex& vertex = kind.vertices[i];
    std::vector<std::string> names;
    for (; i < kind.vertices.size() && is_alike(vertex, kind.vertices[i]); ++i) names.push_back(kind.vertices[i].name);
    switch (vertex.kind) {
      case VertexKind::device:
        text += fmt::format(
            "  device {} memory={}\n", fold(names),
            vertex.memory_switch ? kind.vertices[*vertex.memory_switch].name : rate(vertex.memory_bytes_per_s));
        break;
      case VertexKind::nic: text += fmt::format("  nic {}\n", fold(names)); break;
      case VertexKind::switch_:
        text += fmt::format("  switch {}", fold(names));
        if (vertex.backplane_bytes_per_s != 0) text += fmt::format(" bandwidth={}", rate(vertex.backplane_bytes_per_s));
        text += '\n';
        break;
    }
  }
}

void print_kind(const HostKind& kind, std::string& text) {
  print_vertices(kind, text);
  const auto name = [&](std::uint32_t vertex) -> const std::string& { return kind.vertices[vertex].name; };
  const auto is_alike = [&](const Link& a, const Link& b) {
    return a.bytes_per_s == b.bytes_per_s && a.latency_s == b.latency_s && a.shared == b.shared &&
           prefix_of(name(a.a)) == prefix_of(name(b.a)) && prefix_of(name(a.b)) == prefix_of(name(b.b));
  };
  for (std::size_t i = 0; i < kind.links.size();) {
    const Link& link = kind.links[i];
    Pairs pairs;
    for (; i < kind.links.size() && is_alike(link, kind.links[i]); ++i) {
      pairs.first.push_back(name(kind.links[i].a));
      pairs.second.push_back(name(kind.links[i].b));
    }
    add_links(pairs, cable_text(link.bytes_per_s, link.latency_s) + (link.shared ? " shared" : ""), text);
  }
  if (!kind.reach) text += "  reach none\n";
}

// Hosts whose cards all go to one switch by equal cables, from `host` on; returns the next host.
std::size_t print_plain_hosts(const Topology& topology, std::size_t host, std::string& text) {
  const auto is_plain = [&](std::size_t h) {
    const auto& cables = topology.attachments[h];
    return std::all_of(cables.begin(), cables.end(), [&](const Attachment& a) { return a == cables.front(); });
  };
  const Attachment& cable = topology.attachments[host].front();
  Pairs pairs;
  for (; host < topology.hosts.size() && is_plain(host); ++host) {
    const Attachment& next = topology.attachments[host].front();
    if (next.bytes_per_s != cable.bytes_per_s || next.latency_s != cable.latency_s) break;
    pairs.first.push_back(topology.hosts[host].name);
    pairs.second.push_back(topology.switches[next.switch_index].name);
  }
  if (!pairs.first.empty()) add_links(pairs, cable_text(cable.bytes_per_s, cable.latency_s), text);
  return host;
}

// Hosts wired card by card like `host`; returns the next host.
std::size_t print_wired_hosts(const Topology& topology, std::size_t host, std::string& text) {
  const HostKind& kind = topology.kinds[topology.hosts[host].kind];
  const std::vector<Attachment>& cables = topology.attachments[host];
  std::vector<std::string> names;
  const std::uint32_t kind_index = topology.hosts[host].kind;
  for (; host < topology.hosts.size(); ++host) {
    if (topology.hosts[host].kind != kind_index || topology.attachments[host] != cables) break;
    names.push_back(topology.hosts[host].name);
  }
  const std::vector<std::string> hosts = fold_items(names);
  for (std::size_t i = 0; i < cables.size(); ++i) {
    const auto is_same = [&](const Attachment& a) { return a == cables[i]; };
    if (std::any_of(cables.begin(), cables.begin() + static_cast<std::ptrdiff_t>(i), is_same)) continue;
    std::vector<std::string> nics;
    for (std::size_t j = i; j < cables.size(); ++j) {
      if (is_same(cables[j])) nics.push_back(kind.vertices[kind.nics[j]].name);
    }
    std::vector<std::string> ends;
    for (const std::string& item : hosts) {
      for (const std::string& nic : fold_items(nics)) ends.push_back(fmt::format("{}.{}", item, nic));
    }
    text += fmt::format("  link {} {}{}\n", fmt::join(ends, ","), topology.switches[cables[i].switch_index].name,
                        cable_text(cables[i].bytes_per_s, cables[i].latency_s));
  }
  return host;
}

void print_network(const Topology& topology, std::string& text) {
  text += "network\n";
  const auto& switches = topology.switches;
  for (std::size_t i = 0; i < switches.size();) {
    std::vector<std::string> names;
    const std::string_view prefix = prefix_of(switches[i].name);
    for (; i < switches.size() && prefix_of(switches[i].name) == prefix; ++i) names.push_back(switches[i].name);
    text += fmt::format("  switch {}\n", fold(names));
  }
  for (std::size_t host = 0; host < topology.hosts.size();) {
    const std::size_t next = print_plain_hosts(topology, host, text);
    host = next > host ? next : print_wired_hosts(topology, host, text);
  }
  for (std::size_t i = 0; i < switches.size();) {
    if (!switches[i].parent) {
      ++i;
      continue;
    }
    const NetworkSwitch& below = switches[i];
    Pairs pairs;
    for (; i < switches.size() && switches[i].parent && switches[i].up_bytes_per_s == below.up_bytes_per_s &&
           switches[i].up_latency_s == below.up_latency_s;
         ++i) {
      pairs.first.push_back(switches[i].name);
      pairs.second.push_back(switches[*switches[i].parent].name);
    }
    add_links(pairs, cable_text(below.up_bytes_per_s, below.up_latency_s), text);
  }
}

}  // namespace

std::string print(const Topology& topology) {
  std::string text = fmt::format("topology \"{}\"\nlaunch {}\nstep {}\n", topology.name, seconds(topology.launch_s),
                                 seconds(topology.step_s));
  std::size_t host = 0;
  for (std::uint32_t kind = 0; kind < topology.kinds.size(); ++kind) {
    std::vector<std::string> names;
    for (; host < topology.hosts.size() && topology.hosts[host].kind == kind; ++host) {
      names.push_back(topology.hosts[host].name);
    }
    text += fmt::format("host {}\n", fold(names));
    print_kind(topology.kinds[kind], text);
  }
  if (!topology.switches.empty()) print_network(topology, text);
  return text;
}

}  // namespace tutti::topology

// Machines as values: hosts, devices, links and what they cost. Read from text files that people write (docs/guide/
// topologies.md) or, later, discovered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/status.h"
#include "tutti/types.h"

namespace tutti::topology {

enum class VertexKind : std::uint8_t { device, nic, switch_ };

// A device, a network card or a switch of a host.
struct Vertex {
  VertexKind kind = VertexKind::device;
  std::string name;
  double memory_bytes_per_s = 0;               // device: its own memory; 0 when it uses that of a switch
  std::optional<std::uint32_t> memory_switch;  // device: the switch that is its memory (the DRAM of a host)
  double backplane_bytes_per_s = 0;            // switch: what all traffic through it shares; 0: no limit

  bool operator==(const Vertex&) const = default;
};

// A cable. Full duplex unless shared: then both directions share the bandwidth.
struct Link {
  std::uint32_t a = 0;  // vertices
  std::uint32_t b = 0;
  double bytes_per_s = 0;
  double latency_s = 0;
  bool shared = false;

  bool operator==(const Link&) const = default;
};

// What a kind of host is made of; all hosts of a list share one.
struct HostKind {
  std::vector<Vertex> vertices;
  std::vector<Link> links;
  bool reach = true;                   // devices read and write each other's memory
  std::vector<std::uint32_t> devices;  // vertices, in the order of their ranks
  std::vector<std::uint32_t> nics;

  bool operator==(const HostKind&) const = default;
};

struct Host {
  std::string name;
  std::uint32_t kind = 0;

  bool operator==(const Host&) const = default;
};

// The network between hosts is a tree: network cards are leaves, switches join them.
struct NetworkSwitch {
  std::string name;
  std::optional<std::uint32_t> parent;  // switch
  double up_bytes_per_s = 0;            // of the link to the parent, each way
  double up_latency_s = 0;

  bool operator==(const NetworkSwitch&) const = default;
};

// The cable between a card and the network.
struct Attachment {
  std::uint32_t switch_index = 0;
  double bytes_per_s = 0;
  double latency_s = 0;

  bool operator==(const Attachment&) const = default;
};

struct Topology {
  std::string name;
  double launch_s = 0;
  double step_s = 0;
  std::vector<HostKind> kinds;
  std::vector<Host> hosts;  // in the order of their kinds: the text form has no other
  std::vector<NetworkSwitch> switches;
  std::vector<std::vector<Attachment>> attachments;  // per host, per nic of its kind; empty without a network

  const HostKind& kind_of(std::uint32_t host) const { return kinds[hosts[host].kind]; }
  std::size_t device_count() const;
  bool operator==(const Topology&) const = default;
};

// A rank is the device of the same number, counted host by host.
struct Place {
  std::uint32_t host = 0;
  std::uint32_t device = 0;  // of its host

  bool operator==(const Place&) const = default;
};
std::vector<Place> places(const Topology& topology);

// Errors name the line, what stands there and what is expected: "line 7: 'bandwidht' is not ...; did you mean ...".
Result<Topology> parse(std::string_view text);
Result<Topology> read_file(const std::string& path);
// parse(print(t)) equals t for every t that parse() made.
std::string print(const Topology& topology);

}  // namespace tutti::topology

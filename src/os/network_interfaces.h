// The network interfaces of this machine, as this process's network namespace shows them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "os/ip_address.h"
#include "tutti/status.h"

namespace tutti::os {

enum class InterfaceKind : std::uint8_t {
  physical,  // has a device: a card, also one that a virtual machine is given
  bond,      // several interfaces as one
  stacked,   // a part of another interface: VLAN, macvlan, ipvlan
  bridge,
  veth,  // one end of a pair: containers and test networks
  tunnel,
  synthetic,  // anything else without a device: dummy, ifb, loopback
};

std::string_view name_of(InterfaceKind kind);

struct InterfaceAddress {
  IpAddress address = {};
  int prefix_bits = 0;
  bool operator==(const InterfaceAddress&) const = default;
};

struct NetworkInterface {
  std::string name = {};
  std::uint32_t index = 0;
  bool is_up = false;       // somebody switched it on
  bool is_running = false;  // and the link is there: a cable with somebody at the other end
  bool is_loopback = false;
  InterfaceKind kind = InterfaceKind::synthetic;
  bool has_physical_port = false;                // of a bridge: it leads out of the machine
  std::vector<InterfaceAddress> addresses = {};  // link-local ones last
  std::uint64_t speed_bits = 0;                  // per second; 0: unknown
  int mtu_bytes = 0;
  int numa_node = -1;  // -1: unknown, or all the same
};

// What the kernel says of an interface without /sys.
struct LinkFacts {
  std::string name = {};
  std::uint32_t index = 0;
  std::uint32_t flags = 0;            // IFF_UP and so on
  std::string hardware_address = {};  // "02:fc:00:00:00:01"
  std::string driver = {};            // "veth", "virtio_net"; empty: unknown
  std::string bus = {};               // where its device is: "0000:00:03.0"; empty: nowhere
  std::uint64_t speed_bits = 0;
  int mtu_bytes = 0;
};

// Completes the facts from `sys`, the place where the tree of /sys begins. /sys may show the interfaces of another
// network namespace than the process is in: what has another index or hardware address there is not looked at.
NetworkInterface describe_interface(const LinkFacts& facts, const std::string& sys);

// All of them, in the order of their indices.
Result<std::vector<NetworkInterface>> find_network_interfaces(const std::string& sys = "/sys");

// Differs between network namespaces of one machine; 0: unknown.
std::uint64_t network_namespace_id();

}  // namespace tutti::os

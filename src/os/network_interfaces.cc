#include "os/network_interfaces.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "os/error_text.h"
#include "os/file_descriptor.h"

namespace tutti::os {

namespace {

using InterfaceList = std::unique_ptr<ifaddrs, void (*)(ifaddrs*)>;

std::optional<IpAddress> address_of(const sockaddr* given) {
  IpAddress address;
  if (given == nullptr) return std::nullopt;
  if (given->sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, given, sizeof in);
    std::memcpy(address.bytes.data(), &in.sin_addr, sizeof in.sin_addr);
    return address;
  }
  if (given->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 in{};
  std::memcpy(&in, given, sizeof in);
  address.family = AddressFamily::ipv6;
  std::memcpy(address.bytes.data(), &in.sin6_addr, sizeof in.sin6_addr);
  if (address.is_link_local()) address.scope_id = in.sin6_scope_id;
  return address;
}

int prefix_of(const sockaddr* mask, AddressFamily family) {
  // Some kernels leave the family of a mask unset, so that it is read as one of the address's family.
  const std::size_t offset =
      family == AddressFamily::ipv4 ? offsetof(sockaddr_in, sin_addr) : offsetof(sockaddr_in6, sin6_addr);
  if (mask == nullptr) return bits_of(family);
  std::array<std::uint8_t, 16> bytes{};
  std::memcpy(bytes.data(), reinterpret_cast<const char*>(mask) + offset, bits_of(family) / 8);
  int bits = 0;
  for (const std::uint8_t byte : bytes) bits += std::popcount(byte);
  return bits;
}

ifreq request_for(const std::string& name) {
  ifreq request{};
  name.copy(static_cast<char*>(request.ifr_name), IFNAMSIZ - 1);
  return request;
}

std::string text_within(std::span<const char> field) { return {field.data(), strnlen(field.data(), field.size())}; }

// Where a device is: drivers without one leave this empty or say so in a word.
bool is_bus(const std::string& bus) { return bus.find_first_of("0123456789") != std::string::npos; }

void ask_driver(int socket, LinkFacts& facts) {
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  ifreq request = request_for(facts.name);
  request.ifr_data = reinterpret_cast<char*>(&info);
  if (ioctl(socket, SIOCETHTOOL, &request) != 0) return;
  facts.driver = text_within(info.driver);
  if (const std::string bus = text_within(info.bus_info); is_bus(bus)) facts.bus = bus;
}

void ask_speed(int socket, LinkFacts& facts) {
  ethtool_cmd settings{};
  settings.cmd = ETHTOOL_GSET;
  ifreq request = request_for(facts.name);
  request.ifr_data = reinterpret_cast<char*>(&settings);
  if (ioctl(socket, SIOCETHTOOL, &request) != 0) return;
  const std::uint32_t megabits = ethtool_cmd_speed(&settings);
  if (megabits != 0 && megabits != static_cast<std::uint32_t>(SPEED_UNKNOWN))
    facts.speed_bits = std::uint64_t{megabits} * 1'000'000;
}

LinkFacts facts_of(int socket, const std::string& name) {
  LinkFacts facts{.name = name, .index = if_nametoindex(name.c_str())};
  ifreq request = request_for(name);
  if (ioctl(socket, SIOCGIFFLAGS, &request) == 0) facts.flags = static_cast<std::uint16_t>(request.ifr_flags);
  request = request_for(name);
  if (ioctl(socket, SIOCGIFMTU, &request) == 0) facts.mtu_bytes = request.ifr_mtu;
  request = request_for(name);
  if (ioctl(socket, SIOCGIFHWADDR, &request) == 0) {
    std::array<std::uint8_t, 6> bytes{};
    std::memcpy(bytes.data(), static_cast<const char*>(request.ifr_hwaddr.sa_data), bytes.size());
    facts.hardware_address = fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", bytes[0], bytes[1], bytes[2],
                                         bytes[3], bytes[4], bytes[5]);
  }
  ask_driver(socket, facts);
  ask_speed(socket, facts);
  return facts;
}

std::map<std::string, std::vector<InterfaceAddress>> addresses_by_name(const ifaddrs* list) {
  std::map<std::string, std::vector<InterfaceAddress>> found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    // One without addresses is there too, as AF_PACKET. Further addresses may have a label, as in "eth0:1".
    const std::string_view label = entry->ifa_name;
    auto& addresses = found[std::string(label.substr(0, label.find(':')))];
    if (const auto address = address_of(entry->ifa_addr))
      addresses.push_back({*address, prefix_of(entry->ifa_netmask, address->family)});
  }
  for (auto& [name, addresses] : found) {
    std::stable_partition(addresses.begin(), addresses.end(),
                          [](const auto& each) { return !each.address.is_link_local(); });
  }
  return found;
}

}  // namespace

std::string_view name_of(InterfaceKind kind) {
  switch (kind) {
    case InterfaceKind::physical: return "physical";
    case InterfaceKind::bond: return "bond";
    case InterfaceKind::stacked: return "stacked";
    case InterfaceKind::bridge: return "bridge";
    case InterfaceKind::veth: return "veth";
    case InterfaceKind::tunnel: return "tunnel";
    case InterfaceKind::synthetic: return "virtual";
  }
  return "";
}

Result<std::vector<NetworkInterface>> find_network_interfaces(const std::string& sys) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0)
    return Status(Code::network, fmt::format("cannot list the network interfaces: {}", error_text(errno)));
  const InterfaceList owner(list, freeifaddrs);
  const FileDescriptor asker(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  std::vector<NetworkInterface> interfaces;
  for (auto& [name, addresses] : addresses_by_name(list)) {
    interfaces.push_back(describe_interface(facts_of(asker.get(), name), sys));
    interfaces.back().addresses = std::move(addresses);
  }
  std::ranges::stable_sort(interfaces, {}, &NetworkInterface::index);
  return interfaces;
}

std::uint64_t network_namespace_id() {
  struct stat status {};
  return stat("/proc/self/ns/net", &status) == 0 ? status.st_ino : 0;
}

}  // namespace tutti::os

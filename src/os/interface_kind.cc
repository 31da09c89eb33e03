// What an interface is, from the kernel's facts and the tree of /sys.
#include <net/if.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/text.h"
#include "os/network_interfaces.h"
#include "os/small_file.h"

namespace tutti::os {

namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

template <class Integer>
std::optional<Integer> number_in(const std::string& path) {
  const auto text = read_small_file(path);
  return text ? text::integer_of<Integer>(text::trim(*text)) : std::nullopt;
}

struct KnownWord {
  std::string_view word;
  InterfaceKind kind;
};
// DEVTYPE of the kernel's events, and names of drivers.
constexpr std::array<KnownWord, 18> kWords = {{{"bond", InterfaceKind::bond},
                                               {"bonding", InterfaceKind::bond},
                                               {"team", InterfaceKind::bond},
                                               {"bridge", InterfaceKind::bridge},
                                               {"vlan", InterfaceKind::stacked},
                                               {"802.1Q VLAN Support", InterfaceKind::stacked},
                                               {"macvlan", InterfaceKind::stacked},
                                               {"macvtap", InterfaceKind::stacked},
                                               {"ipvlan", InterfaceKind::stacked},
                                               {"veth", InterfaceKind::veth},
                                               {"vxlan", InterfaceKind::tunnel},
                                               {"geneve", InterfaceKind::tunnel},
                                               {"wireguard", InterfaceKind::tunnel},
                                               {"tun", InterfaceKind::tunnel},
                                               {"ppp", InterfaceKind::tunnel},
                                               {"ip_tunnel", InterfaceKind::tunnel},
                                               {"dummy", InterfaceKind::synthetic},
                                               {"ifb", InterfaceKind::synthetic}}};

std::optional<InterfaceKind> kind_of_word(std::string_view word) {
  const auto found = std::ranges::find(kWords, word, &KnownWord::word);
  return found == kWords.end() ? std::nullopt : std::optional(found->kind);
}

std::string device_type(const std::string& folder) {
  const std::string events = read_small_file(folder + "/uevent").value_or("");
  constexpr std::string_view kKey = "DEVTYPE=";
  for (const std::string_view line : text::split(events, '\n')) {
    if (line.starts_with(kKey)) return std::string(text::trim(line.substr(kKey.size())));
  }
  return {};
}

InterfaceKind kind_in(const std::string& folder, const LinkFacts& facts) {
  constexpr int kEthernet = 1;  // ARPHRD_ETHER and ARPHRD_INFINIBAND; tunnels have types of their own
  constexpr int kInfiniband = 32;
  if (exists(folder + "/bonding")) return InterfaceKind::bond;
  if (exists(folder + "/bridge")) return InterfaceKind::bridge;
  if (exists(folder + "/tun_flags")) return InterfaceKind::tunnel;
  if (const auto kind = kind_of_word(device_type(folder))) return *kind;
  if (exists(folder + "/device")) return InterfaceKind::physical;
  if (const auto kind = kind_of_word(facts.driver)) return *kind;
  if ((facts.flags & IFF_LOOPBACK) != 0) return InterfaceKind::synthetic;
  if (const auto type = number_in<int>(folder + "/type"); type && *type != kEthernet && *type != kInfiniband)
    return InterfaceKind::tunnel;
  const auto lower = number_in<std::uint32_t>(folder + "/iflink");
  return lower && *lower != facts.index ? InterfaceKind::veth : InterfaceKind::synthetic;
}

InterfaceKind kind_without_sys(const LinkFacts& facts) {
  if (const auto kind = kind_of_word(facts.driver)) return *kind;
  return facts.bus.empty() ? InterfaceKind::synthetic : InterfaceKind::physical;
}

bool is_running_in(const std::string& folder) {
  const std::string state = read_small_file(folder + "/operstate").value_or("unknown");
  return number_in<int>(folder + "/carrier") == 1 && (state == "up" || state == "unknown");
}

// A port with a device, or one that carries several of them or a part of one.
bool has_physical_port(const std::string& folder) {
  std::error_code failure;
  for (fs::directory_iterator entry(folder + "/brif", failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const std::string port = fs::path(folder).parent_path() / entry->path().filename();
    const std::string type = device_type(port);
    if (exists(port + "/device") || exists(port + "/bonding") || type == "vlan") return true;
  }
  return false;
}

bool is_same_interface(const std::string& folder, const LinkFacts& facts) {
  if (number_in<std::uint32_t>(folder + "/ifindex") != facts.index) return false;
  // InfiniBand has longer addresses there; the kernel's answer then holds the first bytes.
  const std::string address = read_small_file(folder + "/address").value_or("");
  return facts.hardware_address.empty() || address.empty() || address.starts_with(facts.hardware_address);
}

}  // namespace

NetworkInterface describe_interface(const LinkFacts& facts, const std::string& sys) {
  NetworkInterface interface {
    .name = facts.name, .index = facts.index, .is_up = (facts.flags & IFF_UP) != 0,
    .is_running = (facts.flags & IFF_RUNNING) != 0, .is_loopback = (facts.flags & IFF_LOOPBACK) != 0,
    .speed_bits = facts.speed_bits, .mtu_bytes = facts.mtu_bytes
  };
  const std::string folder = sys + "/class/net/" + facts.name;
  if (!is_same_interface(folder, facts)) {
    interface.kind = kind_without_sys(facts);
    return interface;
  }
  interface.kind = kind_in(folder, facts);
  interface.is_running = interface.is_up && is_running_in(folder);
  interface.has_physical_port = interface.kind == InterfaceKind::bridge && has_physical_port(folder);
  if (const auto megabits = number_in<std::int64_t>(folder + "/speed"); megabits && *megabits > 0)
    interface.speed_bits = static_cast<std::uint64_t>(*megabits) * 1'000'000;
  if (const auto mtu = number_in<int>(folder + "/mtu")) interface.mtu_bytes = *mtu;
  interface.numa_node = number_in<int>(folder + "/device/numa_node").value_or(-1);
  return interface;
}

}  // namespace tutti::os

#include "os/network_interfaces.h"

#include <gtest/gtest.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

namespace tutti::os {
namespace {

namespace fs = std::filesystem;

IpAddress ip(std::string_view text) { return parse_ip_address(text).value(); }

TEST(IpAddress, TextRoundTrips) {
  for (const char* text : {"10.0.0.1", "255.255.255.255", "fd00::1", "::1", "fe80::1%3"}) {
    const auto address = parse_ip_address(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(text_of(*address), text);
  }
  for (const char* text : {"", "10.0.0", "10.0.0.1%2", "fe80::1%", "fe80::1%nothing0", "fe80::1%0", "node7", "::1::"}) {
    EXPECT_FALSE(parse_ip_address(text)) << text;
  }
}

TEST(IpAddress, KnowsItsKind) {
  EXPECT_TRUE(ip("127.0.0.53").is_loopback());
  EXPECT_TRUE(ip("::1").is_loopback());
  EXPECT_FALSE(ip("::2").is_loopback());
  EXPECT_TRUE(ip("169.254.1.1").is_link_local());
  EXPECT_TRUE(ip("fe80::1").is_link_local());
  EXPECT_FALSE(ip("fd00::1").is_link_local());
  for (const char* text : {"10.1.2.3", "172.31.0.1", "192.168.1.1", "100.64.0.1", "fd00::1"})
    EXPECT_TRUE(ip(text).is_private()) << text;
  for (const char* text : {"11.1.2.3", "172.32.0.1", "192.169.1.1", "2001:db8::1"})
    EXPECT_FALSE(ip(text).is_private()) << text;
}

TEST(IpAddress, NetworksKeepTheFirstBits) {
  EXPECT_EQ(network_text(ip("10.1.2.3"), 24), "10.1.2.0/24");
  EXPECT_EQ(network_text(ip("10.1.2.3"), 31), "10.1.2.2/31");
  EXPECT_EQ(network_text(ip("10.1.2.3"), 12), "10.0.0.0/12");
  EXPECT_EQ(network_text(ip("10.1.2.3"), 0), "0.0.0.0/0");
  EXPECT_EQ(network_text(ip("fd00:1:2:3:4::5"), 64), "fd00:1:2:3::/64");
  EXPECT_EQ(network_text(ip("fe80::1%3"), 64), "fe80::/64") << "a network has no scope";
}

using Files = std::map<std::string, std::string>;

class SysTree : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tutti-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    sys = pattern;
  }
  void TearDown() override { fs::remove_all(sys); }

  // A name that ends in a slash is a folder.
  void add(const std::string& name, std::uint32_t index, const Files& files) {
    const fs::path folder = sys / "class/net" / name;
    fs::create_directories(folder);
    Files all = {{"ifindex", std::to_string(index)},
                 {"iflink", std::to_string(index)},
                 {"address", "02:00:00:00:00:01"},
                 {"type", "1"},
                 {"carrier", "1"},
                 {"operstate", "up"},
                 {"mtu", "1500"},
                 {"uevent", "INTERFACE=" + name + "\nIFINDEX=" + std::to_string(index)}};
    for (const auto& [file, text] : files) all[file] = text;
    for (const auto& [file, text] : all) {
      fs::create_directories((folder / file).parent_path());
      if (!file.ends_with('/')) std::ofstream(folder / file) << text << '\n';
    }
  }
  NetworkInterface describe(LinkFacts facts) const {
    facts.hardware_address = "02:00:00:00:00:01";
    facts.flags |= IFF_UP;
    return describe_interface(facts, sys);
  }
  InterfaceKind kind_of(const std::string& name, std::uint32_t index, const Files& files,
                        const std::string& driver = "") {
    add(name, index, files);
    return describe({.name = name, .index = index, .driver = driver}).kind;
  }

  fs::path sys;
};

TEST_F(SysTree, TellsSpeedSizeAndPlaceOfACard) {
  add("eth0", 2, {{"device/numa_node", "1"}, {"speed", "100000"}, {"mtu", "9000"}});
  const NetworkInterface card = describe({.name = "eth0", .index = 2, .mtu_bytes = 1500});
  EXPECT_EQ(card.kind, InterfaceKind::physical);
  EXPECT_TRUE(card.is_up);
  EXPECT_TRUE(card.is_running);
  EXPECT_EQ(card.speed_bits, 100'000'000'000u);
  EXPECT_EQ(card.mtu_bytes, 9000);
  EXPECT_EQ(card.numa_node, 1);
}

TEST_F(SysTree, ASpeedThatIsNotKnownIsNone) {
  add("eth0", 2, {{"device/", ""}, {"speed", "-1"}});
  EXPECT_EQ(describe({.name = "eth0", .index = 2}).speed_bits, 0u);
}

TEST_F(SysTree, TellsKindsApart) {
  EXPECT_EQ(kind_of("bond0", 3, {{"bonding/mode", "802.3ad 4"}, {"uevent", "DEVTYPE=bond"}}), InterfaceKind::bond);
  EXPECT_EQ(kind_of("docker0", 4, {{"bridge/bridge_id", "8000"}, {"uevent", "DEVTYPE=bridge"}}), InterfaceKind::bridge);
  EXPECT_EQ(kind_of("veth1", 5, {{"iflink", "2"}}), InterfaceKind::veth);
  EXPECT_EQ(kind_of("eth9", 6, {{"iflink", "6"}}, "veth"), InterfaceKind::veth) << "both ends may have one index";
  EXPECT_EQ(kind_of("eth0.7", 7, {{"iflink", "2"}, {"uevent", "DEVTYPE=vlan"}}), InterfaceKind::stacked);
  EXPECT_EQ(kind_of("mac0", 8, {{"iflink", "2"}, {"uevent", "DEVTYPE=macvlan"}}), InterfaceKind::stacked);
  EXPECT_EQ(kind_of("tun0", 9, {{"tun_flags", "0x1"}, {"type", "65534"}}), InterfaceKind::tunnel);
  EXPECT_EQ(kind_of("wg0", 10, {{"uevent", "DEVTYPE=wireguard"}}), InterfaceKind::tunnel);
  EXPECT_EQ(kind_of("tunl0", 11, {{"type", "768"}}), InterfaceKind::tunnel);
  EXPECT_EQ(kind_of("dummy0", 12, {}), InterfaceKind::synthetic);
  EXPECT_EQ(kind_of("ib0", 13, {{"type", "32"}, {"device/", ""}}), InterfaceKind::physical);
  EXPECT_EQ(kind_of("wlan0", 14, {{"device/", ""}, {"uevent", "DEVTYPE=wlan"}}), InterfaceKind::physical);
}

TEST_F(SysTree, ABridgeWithACardLeadsOut) {
  add("eth0", 2, {{"device/", ""}});
  add("veth1", 3, {{"iflink", "9"}});
  add("br0", 4, {{"bridge/", ""}, {"brif/eth0", ""}, {"brif/veth1", ""}});
  add("docker0", 5, {{"bridge/", ""}, {"brif/veth1", ""}});
  EXPECT_TRUE(describe({.name = "br0", .index = 4}).has_physical_port);
  EXPECT_FALSE(describe({.name = "docker0", .index = 5}).has_physical_port);
}

TEST_F(SysTree, WithoutACarrierNothingRuns) {
  add("eth0", 2, {{"device/", ""}, {"carrier", "0"}, {"operstate", "down"}});
  add("eth1", 3, {{"device/", ""}, {"operstate", "lowerlayerdown"}});
  EXPECT_FALSE(describe({.name = "eth0", .index = 2, .flags = IFF_RUNNING}).is_running);
  EXPECT_FALSE(describe({.name = "eth1", .index = 3, .flags = IFF_RUNNING}).is_running);
}

TEST_F(SysTree, AnotherNamespacesInterfaceOfTheSameNameIsNotLookedAt) {
  add("eth0", 2, {{"device/", ""}, {"speed", "100000"}});
  LinkFacts facts{.name = "eth0", .index = 7, .flags = IFF_RUNNING, .driver = "veth", .mtu_bytes = 1400};
  const NetworkInterface by_index = describe(facts);
  EXPECT_EQ(by_index.kind, InterfaceKind::veth);
  EXPECT_EQ(by_index.speed_bits, 0u);
  EXPECT_TRUE(by_index.is_running);
  EXPECT_EQ(by_index.mtu_bytes, 1400);
  facts.index = 2;
  facts.hardware_address = "02:00:00:00:00:99";
  facts.driver = "virtio_net";
  facts.bus = "0000:00:03.0";
  EXPECT_EQ(describe_interface(facts, sys).kind, InterfaceKind::physical);
  EXPECT_EQ(describe_interface(facts, sys).speed_bits, 0u);
}

TEST(NetworkInterfaces, ThisMachineHasLoopback) {
  const auto found = find_network_interfaces();
  ASSERT_TRUE(found) << found.status().text();
  const auto loopback = std::ranges::find_if(*found, &NetworkInterface::is_loopback);
  ASSERT_NE(loopback, found->end());
  EXPECT_GT(loopback->index, 0u);
  for (const InterfaceAddress& each : loopback->addresses) {
    if (each.address == ip("127.0.0.1")) {
      EXPECT_EQ(each.prefix_bits, 8);
    } else if (each.address == ip("::1")) {
      EXPECT_EQ(each.prefix_bits, 128);
    }
  }
  for (const NetworkInterface& each : *found) {
    EXPECT_TRUE(std::ranges::is_sorted(each.addresses, {}, [](const auto& a) { return a.address.is_link_local(); }));
  }
  EXPECT_NE(network_namespace_id(), 0u);
}

}  // namespace
}  // namespace tutti::os

#include "bootstrap/network/selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace tutti::bootstrap {
namespace {

using os::InterfaceKind;
using os::NetworkInterface;

std::uint32_t next_index = 1;

NetworkInterface interface_of(const std::string& name, InterfaceKind kind, std::uint64_t gigabits,
                              std::initializer_list<std::string_view> addresses) {
  NetworkInterface interface {
    .name = name, .index = next_index++, .is_up = true, .is_running = true, .is_loopback = name == "lo", .kind = kind,
    .speed_bits = gigabits * 1'000'000'000
  };
  for (const std::string_view text : addresses) {
    const std::size_t slash = text.find('/');
    interface.addresses.push_back(
        {os::parse_ip_address(text.substr(0, slash)).value(), std::stoi(std::string(text.substr(slash + 1)))});
  }
  return interface;
}

NetworkInterface loopback() { return interface_of("lo", InterfaceKind::synthetic, 0, {"127.0.0.1/8", "::1/128"}); }

std::string chosen_of(const Selection& selection) {
  std::string names;
  for (const NetworkInterface& each : selection.chosen) names += (names.empty() ? "" : " ") + each.name;
  return names;
}

std::string reason_of(const Selection& selection, std::string_view name) {
  const auto found = std::ranges::find(selection.dropped, name, &DroppedInterface::name);
  return found == selection.dropped.end() ? "not dropped" : found->reason;
}

Wish wish_for(std::string_view filter, SocketFamily family = SocketFamily::any) {
  return {.filter = parse_interface_filter(filter).value(), .family = family};
}

Selection select(const std::vector<NetworkInterface>& interfaces, std::string_view filter = "",
                 SocketFamily family = SocketFamily::any) {
  auto selection = select_interfaces(interfaces, wish_for(filter, family));
  EXPECT_TRUE(selection) << selection.status().text();
  return selection ? *selection : Selection{};
}

// A machine as they are: two cards, one of them without a cable, containers, a VPN.
std::vector<NetworkInterface> workstation() {
  std::vector<NetworkInterface> all = {
      loopback(),
      interface_of("eth0", InterfaceKind::physical, 1, {"192.168.1.5/24", "fe80::5/64"}),
      interface_of("eth1", InterfaceKind::physical, 10, {}),
      interface_of("ib0", InterfaceKind::physical, 100, {"10.0.0.5/24"}),
      interface_of("docker0", InterfaceKind::bridge, 0, {"172.17.0.1/16"}),
      interface_of("veth12ab", InterfaceKind::veth, 10, {"fe80::77/64"}),
      interface_of("tun0", InterfaceKind::tunnel, 0, {"10.8.0.2/24"}),
  };
  all[2].is_running = false;
  return all;
}

TEST(InterfaceFilter, ReadsAllFourForms) {
  using Filter = InterfaceFilter;
  const std::map<std::string, Filter> cases = {
      {"", {}},
      {"eth,ib", {{"eth", "ib"}, Filter::Match::prefix, Filter::Sense::use}},
      {"=eth0, eth1", {{"eth0", "eth1"}, Filter::Match::exact, Filter::Sense::use}},
      {"^docker,lo", {{"docker", "lo"}, Filter::Match::prefix, Filter::Sense::avoid}},
      {"^=docker0", {{"docker0"}, Filter::Match::exact, Filter::Sense::avoid}}};
  for (const auto& [text, expected] : cases) {
    const auto filter = parse_interface_filter(text);
    ASSERT_TRUE(filter) << text << ": " << filter.status().text();
    EXPECT_EQ(*filter, expected) << text;
  }
}

TEST(InterfaceFilter, PrefixesAndExactNamesDiffer) {
  EXPECT_TRUE(parse_interface_filter("eth1")->names_interface("eth10"));
  EXPECT_FALSE(parse_interface_filter("=eth1")->names_interface("eth10"));
  EXPECT_TRUE(parse_interface_filter("=eth1")->names_interface("eth1"));
}

TEST(InterfaceFilter, MalformedOnesAreErrorsThatShowTheForms) {
  for (const char* text :
       {"^", "=", "^=", "eth,", ",eth", "eth,,ib", "=^eth", "^^eth", "eth 0", "eth/0", "a_name_too_long_for_linux"}) {
    const auto filter = parse_interface_filter(text);
    EXPECT_FALSE(filter) << text;
    EXPECT_NE(filter.status().text().find("write eth,ib for names"), std::string_view::npos) << text;
  }
}

TEST(Selection, TakesRealInterfacesTheFastestFirst) {
  const Selection selection = select(workstation());
  EXPECT_EQ(chosen_of(selection), "ib0 eth0");
  EXPECT_EQ(reason_of(selection, "lo"), "loopback");
  EXPECT_EQ(reason_of(selection, "eth1"), "no link");
  EXPECT_EQ(reason_of(selection, "docker0"), "container bridge");
  EXPECT_EQ(reason_of(selection, "veth12ab"), "only link-local addresses, and there are better ones");
  EXPECT_EQ(reason_of(selection, "tun0"), "tunnel, and there are better ones");
}

TEST(Selection, SaysWhatItChoseAndWhy) {
  const std::vector<NetworkInterface> interfaces = {
      loopback(), interface_of("eth1", InterfaceKind::physical, 10, {"10.0.0.1/24"}),
      interface_of("eth2", InterfaceKind::physical, 10, {"10.0.1.1/24"}),
      interface_of("docker0", InterfaceKind::bridge, 0, {"172.17.0.1/16"})};
  EXPECT_EQ(select(interfaces).sentence(),
            "eth1 and eth2 chosen: up, 10 Gbit/s each, in 10.0.0.0/24 and 10.0.1.0/24; lo dropped: loopback; docker0 "
            "dropped: container bridge");
  EXPECT_EQ(select({loopback()}).sentence(), "no interface chosen; lo dropped: loopback");
}

TEST(Selection, PairsAreTheNetworkWhereThereIsNothingElse) {
  const Selection selection = select({loopback(), interface_of("eth0", InterfaceKind::veth, 10, {"10.0.0.1/24"}),
                                      interface_of("eth1", InterfaceKind::veth, 10, {"10.0.1.1/24"})});
  EXPECT_EQ(chosen_of(selection), "eth0 eth1");
}

TEST(Selection, ABridgeThatLeadsOutIsUsed) {
  NetworkInterface bridge = interface_of("br0", InterfaceKind::bridge, 10, {"10.0.0.1/24"});
  bridge.has_physical_port = true;
  EXPECT_EQ(chosen_of(select({loopback(), bridge})), "br0");
}

TEST(Selection, NamesOfTheUserOverrideKinds) {
  EXPECT_EQ(chosen_of(select(workstation(), "docker,tun")), "docker0 tun0");
  EXPECT_EQ(chosen_of(select(workstation(), "=lo")), "lo");
  EXPECT_EQ(chosen_of(select(workstation(), "=eth0")), "eth0");
  EXPECT_EQ(reason_of(select(workstation(), "=eth0"), "ib0"), "TUTTI_SOCKET_IFNAME==eth0 does not name it");
}

TEST(Selection, WhatTheUserExcludesIsLeftOutAndTheRestChosenAsAlways) {
  const Selection selection = select(workstation(), "^ib");
  EXPECT_EQ(chosen_of(selection), "eth0");
  EXPECT_EQ(reason_of(selection, "ib0"), "TUTTI_SOCKET_IFNAME=^ib excludes it");
  EXPECT_EQ(chosen_of(select(workstation(), "^ib,eth")), "tun0") << "then the tunnel is the best there is";
  EXPECT_EQ(chosen_of(select(workstation(), "^=eth,ib0")), "eth0") << "eth is no interface's whole name";
}

TEST(Selection, NamesThatMatchNothingAreAnErrorThatListsWhatThereIs) {
  EXPECT_EQ(select_interfaces(workstation(), wish_for("en")).status().text(),
            "TUTTI_SOCKET_IFNAME=en matches no interface; there are lo, eth0, eth1, ib0, docker0, veth12ab and tun0");
  EXPECT_EQ(select_interfaces(workstation(), wish_for("=eth1")).status().text(),
            "TUTTI_SOCKET_IFNAME==eth1 matches only eth1 (no link), which cannot be used");
}

TEST(Selection, KeepsOnlyAddressesOfTheWishedFamily) {
  const std::vector<NetworkInterface> interfaces = {
      interface_of("eth0", InterfaceKind::physical, 1, {"10.0.0.1/24", "fd00::1/64"}),
      interface_of("eth1", InterfaceKind::physical, 1, {"10.0.1.1/24"})};
  const Selection selection = select(interfaces, "", SocketFamily::ipv6);
  EXPECT_EQ(chosen_of(selection), "eth0");
  ASSERT_EQ(selection.chosen.front().addresses.size(), 1u);
  EXPECT_EQ(text_of(selection.chosen.front().addresses.front().address), "fd00::1");
  EXPECT_EQ(reason_of(selection, "eth1"), "no IPv6 address");
}

TEST(Selection, TheWishComesFromTheSettings) {
  const auto lookup = [](std::string_view name) -> std::optional<std::string> {
    if (name == "NCCL_SOCKET_IFNAME") return "^docker";
    if (name == "TUTTI_SOCKET_FAMILY") return "ipv4";
    return std::nullopt;
  };
  const auto wish = wish_of(*Knobs::read(lookup));
  ASSERT_TRUE(wish) << wish.status().text();
  EXPECT_EQ(wish->variable, "NCCL_SOCKET_IFNAME");
  EXPECT_EQ(wish->filter, *parse_interface_filter("^docker"));
  EXPECT_EQ(wish->family, SocketFamily::ipv4);
  const auto broken = wish_of(*Knobs::read([](std::string_view name) -> std::optional<std::string> {
    return name == "TUTTI_SOCKET_IFNAME" ? std::optional<std::string>("^") : std::nullopt;
  }));
  EXPECT_TRUE(broken.status().text().starts_with("TUTTI_SOCKET_IFNAME: '^' has an empty name"))
      << broken.status().text();
}

}  // namespace
}  // namespace tutti::bootstrap

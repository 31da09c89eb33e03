#include "bootstrap/network/rails.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace tutti::bootstrap {
namespace {

OfferedInterface offered(const std::string& name, std::uint32_t gigabits,
                         std::initializer_list<std::string_view> addresses) {
  OfferedInterface interface { .name = name, .index = 2, .speed_megabits = gigabits * 1000 };
  for (const std::string_view text : addresses) {
    const std::size_t slash = text.find('/');
    interface.addresses.push_back(
        {os::parse_ip_address(text.substr(0, slash)).value(), std::stoi(std::string(text.substr(slash + 1)))});
  }
  return interface;
}

Offer host(const std::string& name, std::vector<OfferedInterface> interfaces) {
  return {.host = name,
          .machine = "boot-of-" + name,
          .network_namespace = 7,
          .has_loopback_ipv4 = true,
          .has_loopback_ipv6 = true,
          .interfaces = std::move(interfaces)};
}

// "10.0.0.1>10.0.0.2" for each rail.
std::string ways_of(const Rails& rails) {
  std::string text;
  for (const Rail& rail : rails.rails)
    text += (text.empty() ? "" : " ") + text_of(rail.local) + ">" + text_of(rail.remote);
  return text;
}

Rails rails_of(const Offer& here, const Offer& there, int rails_max = 4) {
  auto rails = rails_between(here, there, rails_max);
  EXPECT_TRUE(rails) << rails.status().text();
  return rails ? *rails : Rails{};
}

TEST(Rails, OneForEachSharedNetworkInProportionToItsSpeed) {
  const Offer a = host("a", {offered("eth1", 30, {"10.0.0.1/24"}), offered("eth2", 10, {"10.0.1.1/24"})});
  const Offer b = host("b", {offered("eth5", 100, {"10.0.1.2/24"}), offered("eth6", 100, {"10.0.0.2/24"})});
  const Rails rails = rails_of(a, b);
  EXPECT_EQ(ways_of(rails), "10.0.0.1>10.0.0.2 10.0.1.1>10.0.1.2");
  EXPECT_DOUBLE_EQ(rails.rails[0].share, 0.75);
  EXPECT_DOUBLE_EQ(rails.rails[1].share, 0.25);
  EXPECT_EQ(rails.rails[0].local_interface, "eth1");
  EXPECT_EQ(rails.rails[0].remote_interface, "eth6");
  EXPECT_EQ(rails.sentence,
            "to b over eth1 (10.0.0.1 to 10.0.0.2, 30 Gbit/s, 75 %) and eth2 (10.0.1.1 to 10.0.1.2, 10 Gbit/s, 25 %)");
}

TEST(Rails, AnInterfaceAndANetworkServeOneRailOnly) {
  const Offer a = host("a", {offered("eth0", 10, {"10.0.0.1/24", "fd00::1/64"}), offered("eth1", 10, {"10.0.0.3/24"})});
  const Offer b = host("b", {offered("eth0", 10, {"10.0.0.2/24", "fd00::2/64"})});
  const Rails rails = rails_of(a, b);
  EXPECT_EQ(ways_of(rails), "10.0.0.1>10.0.0.2");
  EXPECT_NE(rails.sentence.find("eth1 not used: its network has a rail already"), std::string::npos) << rails.sentence;
}

TEST(Rails, NetworksThatOnlyOneHostHasAreNotUsed) {
  const Offer a = host("a", {offered("eth0", 100, {"10.9.0.1/24"}), offered("eth1", 10, {"10.0.0.1/24"})});
  const Offer b = host("b", {offered("eth1", 10, {"10.0.0.2/24"})});
  const Rails rails = rails_of(a, b);
  EXPECT_EQ(ways_of(rails), "10.0.0.1>10.0.0.2");
  EXPECT_NE(rails.sentence.find("eth0 not used: no network in common"), std::string::npos) << rails.sentence;
}

TEST(Rails, AnAddressThatBothHaveIsNoNetworkBetweenThem) {
  const Offer a = host("a", {offered("docker0", 0, {"172.17.0.1/16"}), offered("eth0", 1, {"10.0.0.1/24"})});
  const Offer b = host("b", {offered("docker0", 0, {"172.17.0.1/16"}), offered("eth0", 1, {"10.0.0.2/24"})});
  EXPECT_EQ(ways_of(rails_of(a, b)), "10.0.0.1>10.0.0.2");
}

TEST(Rails, SlowOnesAndThoseBeyondTheLimitAreLeftOut) {
  const Offer a = host("a", {offered("ib0", 100, {"10.1.0.1/24"}), offered("ib1", 100, {"10.2.0.1/24"}),
                             offered("eth0", 1, {"10.3.0.1/24"})});
  const Offer b = host("b", {offered("ib0", 100, {"10.1.0.2/24"}), offered("ib1", 100, {"10.2.0.2/24"}),
                             offered("eth0", 1, {"10.3.0.2/24"})});
  const Rails both = rails_of(a, b);
  EXPECT_EQ(ways_of(both), "10.1.0.1>10.1.0.2 10.2.0.1>10.2.0.2");
  EXPECT_NE(both.sentence.find("eth0 not used: 1 Gbit/s beside 100 Gbit/s"), std::string::npos) << both.sentence;
  const Rails one = rails_of(a, b, 1);
  EXPECT_EQ(ways_of(one), "10.1.0.1>10.1.0.2");
  EXPECT_DOUBLE_EQ(one.rails[0].share, 1);
  EXPECT_NE(one.sentence.find("ib1 not used: TUTTI_RAILS_MAX is 1"), std::string::npos) << one.sentence;
}

TEST(Rails, UnknownSpeedsCountAsTheSlowestKnown) {
  const Offer a = host("a", {offered("eth0", 30, {"10.0.0.1/24"}), offered("eth1", 10, {"10.0.1.1/24"}),
                             offered("eth2", 0, {"10.0.2.1/24"})});
  const Offer b = host("b", {offered("eth0", 30, {"10.0.0.2/24"}), offered("eth1", 10, {"10.0.1.2/24"}),
                             offered("eth2", 0, {"10.0.2.2/24"})});
  const Rails rails = rails_of(a, b);
  ASSERT_EQ(rails.rails.size(), 3u);
  EXPECT_DOUBLE_EQ(rails.rails[0].share, 0.6);
  EXPECT_DOUBLE_EQ(rails.rails[1].share, 0.2);
  EXPECT_DOUBLE_EQ(rails.rails[2].share, 0.2);
}

TEST(Rails, RoutersJoinTheBestAddressesWhereNoNetworkIsShared) {
  const Offer a = host("a", {offered("eth0", 10, {"8.8.0.1/32", "10.0.0.1/32"}), offered("eth1", 1, {"10.5.0.1/32"})});
  const Offer b = host("b", {offered("eth0", 10, {"10.0.9.2/32"})});
  const Rails rails = rails_of(a, b);
  EXPECT_EQ(ways_of(rails), "10.0.0.1>10.0.9.2") << "private ones belong together";
  EXPECT_NE(rails.sentence.find("no network in common, so routers have to join these"), std::string::npos);
  const Offer c = host("c", {offered("eth0", 10, {"9.9.9.9/24"})});
  EXPECT_EQ(ways_of(rails_of(b, c)), "10.0.9.2>9.9.9.9") << "better than nothing";
}

TEST(Rails, LinkLocalAddressesComeLastWithThisHostsScope) {
  Offer a = host("a", {offered("eth0", 10, {"fe80::1/64"})});
  Offer b = host("b", {offered("eth3", 10, {"fe80::2/64"})});
  a.interfaces[0].index = 4;
  b.interfaces[0].index = 9;
  EXPECT_EQ(ways_of(rails_of(a, b)), "fe80::1%4>fe80::2%4");
  EXPECT_EQ(ways_of(rails_of(b, a)), "fe80::2%9>fe80::1%9");
  a.interfaces.push_back(offered("eth1", 1, {"fd00::1/64"}));
  b.interfaces.push_back(offered("eth1", 1, {"fd00::2/64"}));
  EXPECT_EQ(ways_of(rails_of(a, b)), "fd00::1>fd00::2");
}

TEST(Rails, LoopbackOnlyInsideOneNamespaceOfOneMachine) {
  const Offer a = host("a", {offered("lo", 0, {"127.0.0.1/8"}), offered("eth0", 1, {"10.0.0.1/24"})});
  EXPECT_EQ(ways_of(rails_of(a, a)), "127.0.0.1>127.0.0.1");
  Offer other_namespace = host("a", {offered("lo", 0, {"127.0.0.2/8"}), offered("eth0", 1, {"10.0.0.2/24"})});
  other_namespace.network_namespace = 8;
  EXPECT_EQ(ways_of(rails_of(a, other_namespace)), "10.0.0.1>10.0.0.2");
  Offer unknown = a;
  unknown.machine = "";
  EXPECT_FALSE(is_same_place(unknown, unknown)) << "who does not know where it is may be anywhere";
}

TEST(Rails, WhereLoopbackIsDownAHostReachesItselfByItsAddress) {
  Offer a = host("a", {offered("eth0", 1, {"10.0.0.1/24"})});
  a.has_loopback_ipv4 = false;
  EXPECT_EQ(ways_of(rails_of(a, a)), "::1>::1");
  a.has_loopback_ipv6 = false;
  EXPECT_EQ(ways_of(rails_of(a, a)), "10.0.0.1>10.0.0.1");
}

TEST(Rails, HostsThatCannotReachEachOtherAreNamedWithWhatTheyHave) {
  const Offer a = host("a", {offered("eth0", 1, {"10.0.0.1/24"})});
  const Offer b = host("b", {offered("eth0", 1, {"fd00::2/64"})});
  const auto rails = rails_between(a, b, 4);
  EXPECT_EQ(rails.status().code(), Code::network);
  EXPECT_TRUE(rails.status().text().starts_with("a (eth0 10.0.0.1/24) and b (eth0 fd00::2/64) have no addresses that"))
      << rails.status().text();
  EXPECT_FALSE(rails_between(a, host("c", {}), 4));
}

// A host with chance interfaces in a few chance networks.
Offer chance_host(Random& random, const std::string& name, int number) {
  Offer offer = host(name, {});
  const auto count = random.below(5);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto network = random.below(4);
    const std::string address =
        random.below(3) == 0
            ? "fd00:" + std::to_string(network) + "::" + std::to_string(number) + "/64"
            : "10.0." + std::to_string(network) + "." + std::to_string(10 * number + static_cast<int>(i)) + "/24";
    offer.interfaces.push_back(
        offered("eth" + std::to_string(i), static_cast<std::uint32_t>(random.below(3)), {address}));
  }
  return offer;
}

TEST(Rails, BothSidesFindTheSame) {
  Random random(20240607);
  for (int round = 0; round < 2000; ++round) {
    const Offer a = chance_host(random, "a", 1);
    const Offer b = chance_host(random, "b", 2);
    const auto there = rails_between(a, b, 3);
    const auto back = rails_between(b, a, 3);
    ASSERT_EQ(there.is_ok(), back.is_ok()) << "round " << round;
    if (!there) continue;
    ASSERT_EQ(there->rails.size(), back->rails.size()) << there->sentence << "\n" << back->sentence;
    double total = 0;
    for (std::size_t i = 0; i < there->rails.size(); ++i) {
      EXPECT_EQ(there->rails[i].local, back->rails[i].remote) << there->sentence << "\n" << back->sentence;
      EXPECT_EQ(there->rails[i].remote, back->rails[i].local) << there->sentence << "\n" << back->sentence;
      EXPECT_EQ(there->rails[i].share, back->rails[i].share);
      total += there->rails[i].share;
    }
    EXPECT_LT(std::abs(total - 1), 1e-9);
  }
}

}  // namespace
}  // namespace tutti::bootstrap

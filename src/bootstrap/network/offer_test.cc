#include "bootstrap/network/offer.h"

#include <gtest/gtest.h>

namespace tutti::bootstrap {
namespace {

os::InterfaceAddress address_of(std::string_view text, int prefix_bits) {
  return {os::parse_ip_address(text).value(), prefix_bits};
}

os::Machine machine_named(const std::string& host) {
  os::Machine machine;
  machine.host = host;
  return machine;
}

Offer some_offer() {
  return {.host = "node7",
          .machine = "6f1c2d3e",
          .network_namespace = 4026531840,
          .has_loopback_ipv4 = true,
          .interfaces = {{"eth0", 2, 10000, {address_of("10.0.0.1", 24), address_of("fd00::1", 64)}},
                         {"ib0", 3, 0, {address_of("fe80::1", 64)}}}};
}

// The most that an interface can have, and more.
os::NetworkInterface large_interface(int number) {
  os::NetworkInterface interface {
    .name = "interface_" + std::to_string(10000 + number), .index = 1, .is_up = true, .is_running = true
  };
  for (std::size_t i = 0; i <= kOfferedAddressesMax; ++i) interface.addresses.push_back(address_of("fe80::1%3", 64));
  return interface;
}

TEST(Offer, BytesRoundTrip) {
  for (const Offer& offer : {Offer{}, some_offer()}) {
    const auto decoded = decode_offer(encode(offer));
    ASSERT_TRUE(decoded) << decoded.status().text();
    EXPECT_EQ(*decoded, offer);
  }
  EXPECT_LT(encode(some_offer()).size(), 120u) << "cards of all ranks travel to all ranks";
}

TEST(Offer, TheLargestKeepsTheLimit) {
  Selection selection;
  for (int i = 0; i < 20; ++i) selection.chosen.push_back(large_interface(i));
  os::Machine machine = machine_named(std::string(200, 'h'));
  machine.boot_id = std::string(200, 'b');
  const Offer offer = offer_of(selection, selection.chosen, {}, machine, ~std::uint64_t{0});
  EXPECT_EQ(offer.interfaces.size(), kOfferedInterfacesMax);
  EXPECT_EQ(offer.interfaces[0].addresses.size(), kOfferedAddressesMax);
  EXPECT_EQ(offer.interfaces[0].addresses[0].address.scope_id, 0u) << "a scope means nothing elsewhere";
  EXPECT_EQ(encode(offer).size(), kOfferBytesMax);
  EXPECT_EQ(*decode_offer(encode(offer)), offer);
}

TEST(Offer, LoopbackIsOfferedWhereItIsUpAndWished) {
  os::NetworkInterface loopback{.name = "lo", .index = 1, .is_up = true, .is_loopback = true};
  loopback.addresses = {address_of("127.0.0.1", 8), address_of("::1", 128)};
  const auto offer_with = [&](SocketFamily family) {
    return offer_of({}, {&loopback, 1}, {.family = family}, machine_named("a"), 1);
  };
  EXPECT_TRUE(offer_with(SocketFamily::any).has_loopback_ipv4);
  EXPECT_TRUE(offer_with(SocketFamily::any).has_loopback_ipv6);
  EXPECT_FALSE(offer_with(SocketFamily::ipv6).has_loopback_ipv4);
  EXPECT_FALSE(offer_with(SocketFamily::ipv4).has_loopback_ipv6);
  loopback.is_up = false;
  EXPECT_FALSE(offer_with(SocketFamily::any).has_loopback_ipv4);
}

TEST(Offer, HostNamesCannotSteerATerminal) {
  const Offer offer = offer_of({}, {}, {}, machine_named("a\x1b[31m b"), 1);
  EXPECT_EQ(offer.host, "a?[31m?b");
  Bytes bytes = encode(some_offer());
  bytes[11] = std::byte{0x1b};  // the first letter of the host
  EXPECT_FALSE(decode_offer(bytes));
}

TEST(Offer, WhateverIsCutShortOrTooLongIsRefused) {
  Bytes bytes = encode(some_offer());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_offer(std::span(bytes).first(size))) << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_EQ(decode_offer(bytes).status().text(), "what a host offers of its interfaces has 1 bytes too many");
  bytes = encode(some_offer());
  bytes[0] = std::byte{9};
  EXPECT_EQ(decode_offer(bytes).status().text(),
            "what a host offers of its interfaces has format 9; this version of Tutti reads 1");
}

TEST(Offer, ChangedBytesNeverGiveWhatCannotBeWrittenAgain) {
  const Bytes original = encode(some_offer());
  for (std::size_t position = 0; position < original.size(); ++position) {
    for (int value = 0; value < 256; ++value) {
      Bytes bytes = original;
      bytes[position] = static_cast<std::byte>(value);
      const auto offer = decode_offer(bytes);
      EXPECT_TRUE(!offer || encode(*offer) == bytes) << position << " = " << value;
    }
  }
}

}  // namespace
}  // namespace tutti::bootstrap

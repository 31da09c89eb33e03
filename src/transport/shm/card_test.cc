#include "transport/shm/card.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace tutti::transport {
namespace {

Card sample() {
  Card card;
  card.id.fill(std::byte{1});
  card.key.fill(std::byte{2});
  card.pid = 4711;
  card.uid = 1000;
  card.heap_bytes = std::uint64_t{1} << 40;
  card.boot_id = "5f0c2a3e-0000-4000-8000-000000000001";
  card.host = "node7";
  card.socket = "tutti-0123";
  return card;
}

std::string error_of(const Status& status) { return std::string(status.text()); }

TEST(Card, ComesBackAsItWent) {
  const auto card = parse_card(pack_card(sample()));
  ASSERT_TRUE(card) << card.status().text();
  EXPECT_EQ(*card, sample());
}

TEST(Card, EveryOtherLengthIsRefused) {
  auto bytes = pack_card(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(parse_card(std::span(bytes).first(size))) << size;
  bytes.push_back(std::byte{0});
  EXPECT_EQ(error_of(parse_card(bytes).status()), "a card of 109 bytes has the wrong length");
}

TEST(Card, AnotherMagicOrVersionIsExplained) {
  auto bytes = pack_card(sample());
  bytes[4] = std::byte{9};
  EXPECT_EQ(error_of(parse_card(bytes).status()),
            "a card has version 9, this process has 1; use the same Tutti for all ranks");
  bytes[0] = std::byte{0};
  EXPECT_EQ(error_of(parse_card(bytes).status()), "this is not a card of Tutti");
}

TEST(Card, WhatCannotBePrintedDoesNotReachAMessage) {
  Card card = sample();
  card.host = "a\nb\x1b[2J";
  EXPECT_EQ(parse_card(pack_card(card))->host, "a?b?[2J");
  auto bytes = pack_card(sample());
  const auto name = std::as_bytes(std::span("node7", 5));
  const auto host = std::search(bytes.begin(), bytes.end(), name.begin(), name.end());
  ASSERT_NE(host, bytes.end());
  *host = std::byte{'\n'};
  EXPECT_FALSE(parse_card(bytes));
}

TEST(Card, AnotherMachineIsNamedWithBothHosts) {
  Card other = sample();
  EXPECT_TRUE(check_same_machine(sample(), other));
  other.boot_id.clear();
  EXPECT_TRUE(check_same_machine(sample(), other));
  other.host = "node8";
  other.pid = 12;
  const Status status = check_same_machine(sample(), other);
  EXPECT_EQ(status.code(), Code::unsupported);
  EXPECT_EQ(status.text(),
            "process 12 on node8 runs on another machine than process 4711 on node7; ranks on several machines meet "
            "through an identifier (store = \"tcp:\" + Identifier::text())");
  other = sample();
  other.boot_id.back() = '2';
  EXPECT_NE(check_same_machine(sample(), other).text().find("the boot ids differ"), std::string_view::npos);
}

TEST(Hello, ComesBackAsItWentAndInNoOtherLength) {
  Hello hello;
  hello.sender.fill(std::byte{1});
  hello.sender_key.fill(std::byte{2});
  hello.receiver_key.fill(std::byte{3});
  hello.sender_pid = 7;
  hello.heap_bytes = 1 << 30;
  hello.probe_address = 0x7fff12345678;
  hello.probe_word.fill(std::byte{4});
  auto bytes = pack_hello(hello);
  const auto again = parse_hello(bytes);
  ASSERT_TRUE(again) << again.status().text();
  EXPECT_EQ(*again, hello);
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(parse_hello(std::span(bytes).first(size)));
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(parse_hello(bytes));
  EXPECT_FALSE(parse_hello(pack_card(sample())));
}

}  // namespace
}  // namespace tutti::transport

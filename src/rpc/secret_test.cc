#include "rpc/secret.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <type_traits>

namespace tutti::rpc {
namespace {

template <class T>
concept Printable = requires(std::ostream& stream, const T& value) {
  stream << value;
};

TEST(Secret, CannotBePrinted) {
  static_assert(Printable<int>);
  static_assert(!Printable<Secret>);
  static_assert(!std::is_convertible_v<Secret, std::string>);
}

TEST(Secret, ComesBackFromHex) {
  const auto secret = Secret::create();
  ASSERT_TRUE(secret);
  const std::string text = reveal_hex(*secret);
  EXPECT_EQ(text.size(), 64u);
  EXPECT_EQ(*Secret::of_hex(text), *secret);
  EXPECT_FALSE(*Secret::create() == *secret);
}

TEST(Secret, IsNotRepeatedByTheFailureOfReadingIt) {
  const std::string almost = reveal_hex(*Secret::create()).substr(1) + "g";
  for (const std::string& text : {std::string(), almost, almost.substr(2), almost + "00"}) {
    const auto secret = Secret::of_hex(text);
    ASSERT_FALSE(secret);
    EXPECT_EQ(secret.status().code(), Code::invalid_argument);
    if (!text.empty()) {
      EXPECT_EQ(secret.status().text().find(text.substr(0, 8)), std::string_view::npos);
    }
  }
}

TEST(Secret, IsZeroAfterItsEnd) {
  alignas(Secret) std::array<std::byte, sizeof(Secret)> memory;
  memory.fill(std::byte{0xff});
  std::array<std::byte, Secret::kBytes> bytes{};
  bytes.fill(std::byte{0xab});
  auto* secret = new (memory.data()) Secret(std::span<const std::byte, Secret::kBytes>(bytes));
  secret->~Secret();
  for (const std::byte byte : memory) EXPECT_EQ(byte, std::byte{0});
}

Digest digest_of(std::string_view hex) {
  Digest digest{};
  const auto secret = Secret::of_hex(hex);
  std::copy(secret->reveal().begin(), secret->reveal().end(), digest.begin());
  return digest;
}

TEST(Secret, AuthenticatesAsHmacSha256Does) {
  const std::array<std::byte, 2> message{std::byte{0x68}, std::byte{0x69}};
  const auto key = Secret::of_hex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  const Digest whole = authenticate(*key, {message});
  EXPECT_TRUE(are_equal(whole, digest_of("f73ec7d5240b0e5b63c805328042ba8952915bd347c64cf96a56a4ef70fb2674")));
  EXPECT_TRUE(are_equal(whole, authenticate(*key, {std::span(message).first(1), std::span(message).last(1)})));
  EXPECT_FALSE(are_equal(whole, authenticate(*key, {std::span(message).first(1)})));
}

TEST(Secret, DerivesAsHkdfSha256Does) {
  const std::array<std::byte, 3> salt{std::byte{1}, std::byte{2}, std::byte{3}};
  const auto key = Secret::of_hex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  EXPECT_EQ(reveal_hex(derive(*key, salt, "label")),
            "f21a53b6490311c8a6d7b0788f85f1b926cd11553f2c1af127da5c8263b36d4a");
}

// Threads that greet run to the very end of a process, and what OpenSSL does at its exit comes earlier.
TEST(Secret, AuthenticatesAfterMainHasReturned) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  static const Secret key = *Secret::of_hex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  static const std::array<std::byte, 1> message{std::byte{0x68}};
  static Digest before{};
  const auto compare_and_leave = [] { std::_Exit(are_equal(authenticate(key, {message}), before) ? 7 : 1); };
  const auto leave_main = [&] {
    std::atexit(compare_and_leave);  // before OpenSSL is used, and so after whatever it does at exit
    before = authenticate(key, {message});
    std::exit(0);
  };
  EXPECT_EXIT(leave_main(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace tutti::rpc

#include "bootstrap/fixed_address.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bootstrap/meeting_point.h"
#include "bootstrap/store/tcp_store.h"
#include "os/clock.h"
#include "os/tcp_socket.h"

namespace tutti::bootstrap {
namespace {

constexpr std::string_view kSecret = "0123456789abcdef";

Deadline soon() { return Deadline::after(os::now(), std::chrono::seconds(20)); }

Identifier identifier_of(std::string_view address, std::string_view secret = kSecret) {
  const auto identifier = identifier_of_address(address, {.job_secret = secret});
  EXPECT_TRUE(identifier) << identifier.status().text();
  return *identifier;
}

// A listener on a port that was free, and its address.
os::TcpListener any_listener() {
  auto listener = os::TcpListener::listen(*os::TcpAddress::parse("127.0.0.1:0"), {});
  EXPECT_TRUE(listener) << listener.status().text();
  return *std::move(listener);
}

std::string free_address() { return any_listener().address().text(); }

TEST(FixedAddress, IsReadInEveryForm) {
  EXPECT_EQ(parse_fixed_address("Node1:4000")->host, "node1");
  EXPECT_EQ(parse_fixed_address("10.0.0.1:4000")->port, 4000);
  EXPECT_EQ(parse_fixed_address("[fd00::1]:80")->host, "fd00::1");
}

TEST(FixedAddress, SlipsAreNamed) {
  EXPECT_EQ(parse_fixed_address("node1").status().text(),
            "'node1' is no address to meet at: it has no port; write it as 10.0.0.1:4000, [fd00::1]:4000 or name:4000");
  for (const char* text : {":80", "node1:0", "node1:70000", "node1:http", "fd00::1:80", "[]:80", ""}) {
    EXPECT_FALSE(parse_fixed_address(text)) << text;
  }
}

TEST(FixedAddress, EverybodyMakesTheSameIdentifierOfIt) {
  EXPECT_EQ(identifier_of("127.0.0.1:4000"), identifier_of("127.0.0.1:4000"));
  const auto read = read_identifier(identifier_of("127.0.0.1:4000"));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->is_fixed);
  EXPECT_EQ(read->contact.addresses, std::vector<std::string>{"127.0.0.1:4000"});
}

TEST(FixedAddress, AnotherSecretOrPortIsAnotherIdentifier) {
  const auto secret_of = [](const Identifier& identifier) { return read_identifier(identifier)->secret; };
  const auto one = secret_of(identifier_of("127.0.0.1:4000"));
  EXPECT_FALSE(one == secret_of(identifier_of("127.0.0.1:4001")));
  EXPECT_FALSE(one == secret_of(identifier_of("127.0.0.1:4000", "another secret of the job")));
  EXPECT_FALSE(one == secret_of(identifier_of("127.0.0.1:4000", "")));
}

TEST(FixedAddress, AShortSecretIsRefusedWithoutBeingRepeated) {
  const auto identifier = identifier_of_address("127.0.0.1:4000", {.job_secret = "hunter2"});
  ASSERT_FALSE(identifier);
  EXPECT_EQ(identifier.status().text().find("hunter2"), std::string_view::npos);
  EXPECT_NE(identifier.status().text().find("TUTTI_JOB_SECRET has 7 characters"), std::string_view::npos);
}

TEST(FixedAddress, AddressesOfOneLinkAreRefused) {
  EXPECT_FALSE(identifier_of_address("169.254.1.1:4000", {.job_secret = kSecret}));
}

TEST(FixedAddress, ANameIsLookedUp) {
  const auto read = read_identifier(identifier_of("localhost:4000"));
  ASSERT_TRUE(read);
  EXPECT_TRUE(os::TcpAddress::parse(read->contact.addresses.at(0))->ip().is_loopback());
}

TEST(MeetingPoint, OpensAtAFixedAddressForWhoMadeTheIdentifierToo) {
  const std::string address = free_address();
  const auto point = MeetingPoint::open_at(identifier_of(address));
  ASSERT_TRUE(point) << point.status().text();
  EXPECT_EQ((*point)->addresses(), std::vector<std::string>{address});
  const auto store = open_tcp_store(*read_identifier(identifier_of(address)), soon());
  EXPECT_TRUE(store) << store.status().text();
}

TEST(MeetingPoint, RefusesWhoHasAnotherSecret) {
  const std::string address = free_address();
  const auto point = MeetingPoint::open_at(identifier_of(address));
  ASSERT_TRUE(point) << point.status().text();
  auto stranger = *read_identifier(identifier_of(address, "not the secret of it"));
  const Deadline deadline = Deadline::after(os::now(), std::chrono::milliseconds(300));
  EXPECT_FALSE(open_tcp_store(stranger, deadline));
}

TEST(MeetingPoint, SaysWhatToDoWhereThePortIsTaken) {
  const os::TcpListener taken = any_listener();
  const std::string address = taken.address().text();
  const auto point = MeetingPoint::open_at(identifier_of(address));
  ASSERT_FALSE(point);
  EXPECT_NE(point.status().text().find(address), std::string_view::npos) << point.status().text();
  EXPECT_NE(point.status().text().find("needs a port that no other program of this host uses"), std::string_view::npos)
      << point.status().text();
}

TEST(MeetingPoint, SaysThatTheAddressIsOfAnotherHost) {
  const auto point = MeetingPoint::open_at(identifier_of("203.0.113.7:4000"));
  ASSERT_FALSE(point);
  EXPECT_NE(point.status().text().find("203.0.113.7:4000 is no address of"), std::string_view::npos)
      << point.status().text();
}

}  // namespace
}  // namespace tutti::bootstrap

#include "os/tcp_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <optional>
#include <vector>

#include "os/clock.h"

namespace tutti::os {
namespace {

Deadline soon(std::chrono::nanoseconds wait = std::chrono::seconds(30)) { return Deadline::after(now(), wait); }

TEST(TcpAddress, ComesBackAsItWasWritten) {
  for (const std::string text :
       {"10.0.0.1:4000", "0.0.0.0:0", "127.0.0.1:65535", "[fd00::1]:4000", "[::]:0", "[::1]:1", "[fe80::1%1]:7"}) {
    const auto address = TcpAddress::parse(text);
    ASSERT_TRUE(address) << address.status().text();
    EXPECT_EQ(address->text(), text);
    EXPECT_EQ(*TcpAddress::of_host(address->host(), address->port()), *address);
    EXPECT_EQ(address->is_any(), text == "0.0.0.0:0" || text == "[::]:0");
    EXPECT_EQ(address->with_port(99).port(), 99);
  }
}

TEST(TcpAddress, TakesTheNameOfAnInterfaceForItsNumber) {
  const auto named = TcpAddress::parse("[fe80::1%lo]:7");
  ASSERT_TRUE(named) << named.status().text();
  EXPECT_EQ(named->ip().scope_id, ::if_nametoindex("lo"));
}

TEST(TcpAddress, IsRefusedWithItsTextWhenItIsNone) {
  for (const std::string text : {"", ":", "10.0.0.1", "10.0.0.1:", "10.0.0.1:65536", "10.0.0.1:-1", "10.0.0.1:4000x",
                                 "10.0.0.256:1", "localhost:80", "fd00::1:4000", "[fd00::1]", "[10.0.0.1]:4000",
                                 "[fd00::1:4000", "[fe80::1%nothing0]:7", "10.0.0.1%lo:4", "[]:1", "[::1]]:1"}) {
    const auto address = TcpAddress::parse(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.status().code(), Code::invalid_argument);
    EXPECT_NE(address.status().text().find("is no TCP address"), std::string_view::npos) << address.status().text();
  }
  EXPECT_FALSE(TcpAddress::parse(std::string(100'000, '1')));
}

TEST(TcpAddress, OfAnIpv4GuestOnAnIpv6ListenerIsIpv4) {
  auto listener = TcpListener::listen_on_all(0, {});
  ASSERT_TRUE(listener) << listener.status().text();
  const auto to = TcpAddress::of_host("127.0.0.1", listener->address().port());
  auto client = TcpSocket::connect(*to, {}, {}, soon());
  ASSERT_TRUE(client) << client.status().text();
  EXPECT_TRUE(listener->accept(soon())->peer_text().starts_with("127.0.0.1:"));
}

class TcpSockets : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto found = TcpListener::listen(*TcpAddress::of_host(GetParam(), 0), {});
    if (!found) GTEST_SKIP() << found.status().text();
    listener.emplace(*std::move(found));
    client.emplace(*TcpSocket::connect(listener->address(), {}, {}, soon()));
    server.emplace(*listener->accept(soon()));
  }

  std::optional<TcpListener> listener;
  std::optional<TcpSocket> client;
  std::optional<TcpSocket> server;
};

TEST_P(TcpSockets, GatherAndScatterBytes) {
  std::array<char, 6> sent = {'a', 'b', 'c', 'd', 'e', 'f'};
  const std::array<iovec, 2> parts = {iovec{sent.data(), 2}, iovec{sent.data() + 2, 4}};
  EXPECT_EQ(*client->try_write(parts), 6u);
  std::array<char, 6> received{};
  const std::array<iovec, 2> spaces = {iovec{received.data(), 5}, iovec{received.data() + 5, 1}};
  ASSERT_TRUE(server->wait_readable(soon()));
  EXPECT_EQ(*server->try_read(spaces), 6u);
  EXPECT_EQ(received, sent);
}

TEST_P(TcpSockets, SayNotYetWithoutAFailure) {
  std::vector<char> bytes(1 << 20);
  const iovec part{bytes.data(), bytes.size()};
  EXPECT_EQ(*server->try_read({&part, 1}), 0u);
  std::size_t total = 0;
  while (true) {
    const auto count = client->try_write({&part, 1});
    ASSERT_TRUE(count);
    if (*count == 0) break;
    total += *count;
  }
  EXPECT_GT(total, 0u);
  EXPECT_EQ(server->wait_writable(soon()).code(), Code::ok);
  EXPECT_EQ(client->wait_writable(soon(std::chrono::milliseconds(2))).code(), Code::timed_out);
}

TEST_P(TcpSockets, TellALostPeerByItsAddressAndRaiseNoSignal) {
  server.reset();
  std::array<char, 4> bytes{};
  const iovec part{bytes.data(), bytes.size()};
  ASSERT_TRUE(client->wait_readable(soon()));
  const Status end = client->try_read({&part, 1}).status();
  EXPECT_EQ(end.code(), Code::peer_lost);
  EXPECT_EQ(end.text(), "closed by " + listener->address().text());
  Status status;
  while (status) status = client->try_write({&part, 1}).status();
  EXPECT_EQ(status.code(), Code::peer_lost) << status.text();
}

TEST_P(TcpSockets, ReadTheEndAfterAllBytesWhenWritingIsShutDown) {
  char byte = 'x';
  const iovec part{&byte, 1};
  ASSERT_EQ(*client->try_write({&part, 1}), 1u);
  client->shutdown_write();
  ASSERT_TRUE(server->wait_readable(soon()));
  EXPECT_EQ(*server->try_read({&part, 1}), 1u);
  ASSERT_TRUE(server->wait_readable(soon()));
  EXPECT_EQ(server->try_read({&part, 1}).status().code(), Code::peer_lost);
  EXPECT_EQ(*server->try_write({&part, 1}), 1u);  // the other direction is open still
}

TEST_P(TcpSockets, StayInThisProgramAndSendAtOnce) {
  for (const int fd : {listener->descriptor(), client->descriptor(), server->descriptor()}) {
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    int value = 0;
    socklen_t length = sizeof(value);
    ::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &length);
    EXPECT_NE(value, 0);
  }
}

TEST_P(TcpSockets, AreRefusedWhereNobodyListens) {
  const TcpAddress address = listener->address();
  listener.reset();
  const auto refused = TcpSocket::connect(address, {}, {}, soon());
  EXPECT_EQ(refused.status().code(), Code::peer_lost);
  EXPECT_EQ(refused.status().text(), "nobody listens on " + address.text());
}

TEST_P(TcpSockets, DoNotShareAPort) {
  const auto second = TcpListener::listen(listener->address(), {});
  EXPECT_EQ(second.status().code(), Code::invalid_usage);
  EXPECT_NE(second.status().text().find(listener->address().text()), std::string_view::npos);
}

INSTANTIATE_TEST_SUITE_P(All, TcpSockets, testing::Values("127.0.0.1", "::1"),
                         [](const auto& host) { return host.index == 0 ? "Ipv4" : "Ipv6"; });

TEST(TcpSocket, ConnectsFromAChosenAddress) {
  auto listener = TcpListener::listen(*TcpAddress::of_host("127.0.0.1", 0), {});
  auto client = TcpSocket::connect(listener->address(), *TcpAddress::of_host("127.0.0.2", 0), {}, soon());
  ASSERT_TRUE(client) << client.status().text();
  EXPECT_EQ(client->local_address()->host(), "127.0.0.2");
  EXPECT_EQ(listener->accept(soon())->peer_address().host(), "127.0.0.2");
  const auto foreign = TcpSocket::connect(listener->address(), *TcpAddress::of_host("192.0.2.1", 0), {}, soon());
  EXPECT_EQ(foreign.status().code(), Code::network);
  EXPECT_NE(foreign.status().text().find("192.0.2.1"), std::string_view::npos) << foreign.status().text();
}

TEST(TcpSocket, TakesOptionsAndWorksWithoutThoseTheKernelRefuses) {
  TcpOptions options;
  options.send_buffer_bytes = 1 << 16;
  options.receive_buffer_bytes = 1 << 16;
  options.congestion = "no-such-algorithm";
  options.silence_max = std::chrono::seconds(4);
  auto listener = TcpListener::listen(*TcpAddress::of_host("127.0.0.1", 0), options);
  auto client = TcpSocket::connect(listener->address(), {}, options, soon());
  ASSERT_TRUE(client) << client.status().text();
  int value = 0;
  socklen_t length = sizeof(value);
  ::getsockopt(client->descriptor(), IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &length);
  EXPECT_EQ(value, 4000);
  ::getsockopt(client->descriptor(), SOL_SOCKET, SO_KEEPALIVE, &value, &length);
  EXPECT_EQ(value, 1);
  client->set_options({});
  ::getsockopt(client->descriptor(), IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &length);
  EXPECT_EQ(value, 0);
  ::getsockopt(client->descriptor(), SOL_SOCKET, SO_KEEPALIVE, &value, &length);
  EXPECT_EQ(value, 0);
}

TEST(TcpSocket, KnowsWhatIsStillOnItsWayToOneThatTakesNothing) {
  TcpOptions options;
  options.silence_max = std::chrono::seconds(1);
  options.may_take_nothing = true;
  auto listener = TcpListener::listen(*TcpAddress::of_host("127.0.0.1", 0), {});
  auto client = TcpSocket::connect(listener->address(), {}, options, soon());
  ASSERT_TRUE(client) << client.status().text();
  int value = 1;
  socklen_t length = sizeof(value);
  ::getsockopt(client->descriptor(), IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &length);
  EXPECT_EQ(value, 0);
  ::getsockopt(client->descriptor(), SOL_SOCKET, SO_KEEPALIVE, &value, &length);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(client->unacknowledged_bytes(), 0u);
  std::optional<TcpSocket> server = *listener->accept(soon());
  std::vector<std::byte> data(1 << 20);
  const iovec piece{data.data(), data.size()};
  while (*client->try_write({&piece, 1}) > 0) {
  }
  EXPECT_GT(client->unacknowledged_bytes(), 0u);
  EXPECT_FALSE(client->is_unanswered(std::chrono::milliseconds(0))) << "its kernel answers";
  server.reset();
  while (client->try_write({&piece, 1})) ::usleep(1000);
  EXPECT_EQ(client->unacknowledged_bytes(), 0u) << "nobody waits for what is lost";
}

}  // namespace
}  // namespace tutti::os

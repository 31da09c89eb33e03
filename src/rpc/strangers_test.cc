// What a courier makes of those who do not belong to its job.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "base/random.h"
#include "rpc/courier_for_test.h"

namespace tutti::rpc {
namespace {

std::size_t descriptor_count() {
  const auto files = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

// Reads until the other side has closed the connection; how many bytes came.
std::size_t read_to_end(os::TcpSocket& socket) {
  std::array<std::byte, 256> space;
  std::size_t total = 0;
  while (true) {
    const iovec part{space.data(), space.size()};
    const auto count = socket.try_read({&part, 1});
    if (!count) return total;
    total += *count;
    if (*count == 0 && !socket.wait_readable(soon())) ADD_FAILURE() << "the connection stays open";
  }
}

Hello stranger_hello(unsigned char fill) {
  Hello hello;
  hello.id = {99};
  hello.nonce.fill(std::byte{fill});
  return hello;
}

TEST(Strangers, WithAnotherSecretAreRefusedOnBothSides) {
  for (const Encryption encryption : {Encryption::off, Encryption::on}) {
    CourierOptions options = loopback_options();
    options.encryption = encryption;
    Station one(options);
    options.secret = *Secret::create();
    Station stranger(options);
    stranger.send(one, "let me in");
    const auto loss = stranger.listener.wait_loss();
    EXPECT_EQ(loss.code, Code::network);
    EXPECT_NE(loss.text.find("does not know this job's secret"), std::string::npos) << loss.text;
    EXPECT_NE(loss.text.find(one.courier->addresses().front()), std::string::npos) << loss.text;
    EXPECT_EQ(loss.text.find(reveal_hex(options.secret).substr(0, 8)), std::string::npos);
    EXPECT_TRUE(eventually([&] { return one.courier->counters().wrong_secret >= 1; }));
    EXPECT_TRUE(one.listener.messages().empty());
  }
}

TEST(Strangers, WhoDoNotEncryptAreToldSo) {
  for (const bool is_connector : {false, true}) {
    CourierOptions encrypted = loopback_options();
    encrypted.encryption = Encryption::on;
    Station one(is_connector ? encrypted : loopback_options());
    Station two(is_connector ? loopback_options() : encrypted);
    one.send(two, "hello");
    const auto loss = one.listener.wait_loss();
    EXPECT_EQ(loss.code, Code::network);
    EXPECT_NE(loss.text.find("TUTTI_ENCRYPT"), std::string::npos) << loss.text;
    EXPECT_TRUE(eventually([&] { return two.courier->counters().encryption_differs == 1; }));
  }
}

TEST(Strangers, WhoOnlyConnectAndCloseAreCounted) {
  Station one;
  for (int count = 0; count < 10; ++count) connect_to(one);
  EXPECT_TRUE(eventually([&] { return one.courier->counters().strangers == 10; }));
}

TEST(Strangers, WhoSendGarbageHearNothing) {
  Station one;
  Random random(11);
  std::uint64_t count = 0;
  for (const std::size_t size : {1, 2, 7, 8, 55, 56, 57, 1000, 100'000}) {
    os::TcpSocket socket = connect_to(one);
    Bytes garbage(size);
    for (std::byte& byte : garbage) byte = static_cast<std::byte>(random.next());
    garbage.front() = std::byte{'G'};
    write_bytes(socket, garbage);
    EXPECT_EQ(read_to_end(socket), 0u);
    ++count;
    EXPECT_TRUE(eventually([&] { return one.courier->counters().garbage == count; }));
  }
}

TEST(Strangers, OfAnotherVersionHearOurs) {
  Station one;
  Hello hello = stranger_hello(1);
  hello.version = {9, 3};
  os::TcpSocket socket = connect_to(one);
  write_bytes(socket, pack(hello));
  EXPECT_EQ(read_to_end(socket), kHelloBytes);
  EXPECT_EQ(one.courier->counters().bad_version, 1u);
}

TEST(Strangers, WhoComeByteByByteAreDroppedInTime) {
  CourierOptions options = loopback_options();
  options.greeting_time = std::chrono::milliseconds(30);
  Station one(options);
  os::TcpSocket socket = connect_to(one);
  const HelloBytes hello = pack(stranger_hello(1));
  const Time start = os::now();
  // One more byte whenever the courier has surely seen the one before, and never the last.
  for (std::size_t index = 0; one.courier->counters().timeouts == 0; index += index + 2 < hello.size() ? 1 : 0) {
    ASSERT_FALSE(soon().has_passed(os::now()));
    const iovec part{const_cast<std::byte*>(&hello[index]), 1};
    if (index + 2 < hello.size() && !socket.try_write({&part, 1})) break;
  }
  EXPECT_EQ(read_to_end(socket), 0u);
  EXPECT_GE(os::now().ns - start.ns, 30'000'000u);
  EXPECT_EQ(one.courier->counters().timeouts, 1u);
}

TEST(Strangers, InACrowdPushTheOldestOut) {
  CourierOptions options = loopback_options();
  options.visitors_max = 4;
  Station one(options);
  std::vector<os::TcpSocket> sockets;
  for (int count = 0; count < 10; ++count) sockets.push_back(connect_to(one));
  EXPECT_TRUE(eventually([&] { return one.courier->counters().crowded_out == 6; }));
  for (std::size_t index = 0; index < 6; ++index) EXPECT_EQ(read_to_end(sockets[index]), 0u);
  EXPECT_EQ(sockets.back().wait_readable(soon(std::chrono::milliseconds(5))).code(), Code::timed_out);
}

TEST(Strangers, WhoUseAGreetingAgainAreCounted) {
  Station one;
  for (const bool is_again : {false, true}) {
    os::TcpSocket socket = connect_to(one);
    Handshake handshake(test_secret(), stranger_hello(8));
    write_bytes(socket, handshake.take_output());
    Bytes answer(kHelloBytes);
    Conduit conduit(std::move(socket));
    if (is_again) {
      EXPECT_TRUE(eventually([&] { return one.courier->counters().replays == 1; }));
      continue;
    }
    ASSERT_TRUE(conduit.read_exactly(answer, soon()));
    ASSERT_TRUE(handshake.receive(answer));
    handshake.begin_proofs();
    answer.resize(kProofBytes);
    ASSERT_TRUE(conduit.read_exactly(answer, soon()));
    ASSERT_TRUE(handshake.receive(answer));
    ASSERT_TRUE(conduit.write_all(handshake.take_output(), soon()));
    EXPECT_TRUE(eventually([&] { return one.courier->counters().authenticated == 1; }));
  }
}

TEST(Strangers, ByTheThousandDoNotDisturbWhoBelongsHere) {
  CourierOptions options = loopback_options();
  Station one(options), two(options);
  one.send(two, "before");
  two.listener.wait_messages(1);
  const std::size_t before = descriptor_count();
  constexpr std::size_t kHeld = 100;
  std::vector<os::TcpSocket> sockets;
  std::size_t most = 0;
  const HelloBytes half = pack(stranger_hello(1));
  for (std::size_t count = 0; count < 1000; ++count) {
    os::TcpSocket socket = connect_to(two);
    if (count % 3 == 1) write_bytes(socket, std::span(half).first(40));
    if (count % 3 == 2) write_bytes(socket, pack(stranger_hello(2)));
    if (sockets.size() == kHeld) sockets.erase(sockets.begin());
    sockets.push_back(std::move(socket));
    one.send(two, std::to_string(count));
    if (count % 50 == 0) most = std::max(most, descriptor_count());
  }
  const auto texts = two.listener.wait_messages(1001);
  for (std::size_t count = 0; count < 1000; ++count) ASSERT_EQ(texts[count + 1], std::to_string(count));
  EXPECT_LE(most, before + kHeld + options.visitors_max + 8);
  Station newcomer;
  newcomer.send(two, "me too");
  EXPECT_EQ(two.listener.wait_messages(1002).back(), "me too");
  EXPECT_TRUE(eventually([&] { return two.courier->counters().accepted == 1002; }));
  EXPECT_EQ(two.courier->counters().authenticated, 2u);
  EXPECT_TRUE(one.listener.losses().empty());
}

}  // namespace
}  // namespace tutti::rpc

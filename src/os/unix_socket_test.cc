#include "os/unix_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "os/clock.h"

namespace tutti::os {
namespace {

Deadline soon(std::chrono::nanoseconds wait = std::chrono::seconds(30)) { return Deadline::after(now(), wait); }
Deadline shortly() { return soon(std::chrono::milliseconds(5)); }

std::vector<std::byte> bytes_like(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t index = 0; index < count; ++index) bytes[index] = static_cast<std::byte>(index * 31 >> 4);
  return bytes;
}

struct Pair {
  UnixSocket client;
  UnixSocket server;
};

class UnixSockets : public testing::TestWithParam<SocketKind> {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory = pattern;
    path = directory + "/socket";
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  UnixListener listen() { return *UnixListener::listen(path, kind, soon()); }
  Pair connect(UnixListener& listener) {
    auto client = UnixSocket::connect(path, kind, soon());
    return {*std::move(client), *listener.accept(soon())};
  }

  SocketKind kind = GetParam();
  std::string directory;
  std::string path;
};

TEST_P(UnixSockets, CarryBytesBothWays) {
  auto listener = listen();
  auto [client, server] = connect(listener);
  const auto sent = bytes_like(1000);
  std::vector<std::byte> received(sent.size());
  ASSERT_TRUE(client.send_all(sent, soon()));
  ASSERT_TRUE(server.receive_exactly(received, soon()));
  EXPECT_EQ(received, sent);
  ASSERT_TRUE(server.send_all(std::span(sent).first(10), soon()));
  ASSERT_TRUE(client.receive_exactly(std::span(received).first(10), soon()));
}

TEST_P(UnixSockets, EndWaitsAtTheDeadline) {
  auto listener = listen();
  EXPECT_EQ(listener.accept(shortly()).status().code(), Code::timed_out);
  auto [client, server] = connect(listener);
  std::array<std::byte, 64> bytes{};
  EXPECT_EQ(client.receive_exactly(bytes, shortly()).code(), Code::timed_out);
  Status full;
  for (int message = 0; full && message < 1'000'000; ++message) full = client.send_all(bytes, shortly());
  EXPECT_EQ(full.code(), Code::timed_out);
}

TEST_P(UnixSockets, TellALostPeerAndRaiseNoSignal) {
  auto listener = listen();
  auto [client, server] = connect(listener);
  { const UnixSocket gone = std::move(server); }
  std::array<std::byte, 8> bytes{};
  EXPECT_EQ(client.receive_exactly(bytes, soon()).code(), Code::peer_lost);
  EXPECT_EQ(client.send_all(bytes, soon()).code(), Code::peer_lost);
}

TEST_P(UnixSockets, KnowWhoIsOnTheOtherSide) {
  auto listener = listen();
  auto [client, server] = connect(listener);
  EXPECT_EQ(client.peer()->user, ::geteuid());
  EXPECT_EQ(server.peer()->user, ::geteuid());
}

TEST_P(UnixSockets, StayInThisProgram) {
  auto listener = listen();
  auto [client, server] = connect(listener);
  for (const int fd : {listener.descriptor(), client.descriptor(), server.descriptor()}) {
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  }
}

TEST_P(UnixSockets, HaveAPathForTheUserAloneThatGoesWithTheListener) {
  const mode_t before = ::umask(0);
  auto listener = listen();
  ::umask(before);
  struct stat found {};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600u);
  UnixListener moved = std::move(listener);
  listener.close();
  EXPECT_TRUE(std::filesystem::exists(path));
  moved.close();
  EXPECT_TRUE(std::filesystem::is_empty(directory));
}

TEST_P(UnixSockets, DoNotRemoveThePathOfAnother) {
  auto first = listen();
  ASSERT_TRUE(std::filesystem::remove(path));
  auto second = listen();
  first.close();
  EXPECT_TRUE(std::filesystem::exists(path));
  connect(second);
}

TEST_P(UnixSockets, ReplaceADeadSocketButNeitherALiveOneNorAFile) {
  { listen().remove_path(); }
  auto listener = listen();
  std::filesystem::rename(path, path + ".dead");
  listener.close();
  std::filesystem::rename(path + ".dead", path);  // a socket nobody listens on any more
  listener = listen();
  const auto second = UnixListener::listen(path, kind, soon());
  EXPECT_EQ(second.status().code(), Code::invalid_usage);
  EXPECT_NE(second.status().text().find(path), std::string::npos);
  listener.close();
  std::ofstream(path) << "notes";
  EXPECT_EQ(UnixListener::listen(path, kind, soon()).status().code(), Code::invalid_argument);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_P(UnixSockets, OnlyOneOfManyListensWhereADeadSocketWas) {
  auto listener = listen();
  std::filesystem::rename(path, path + ".dead");
  listener.close();
  std::filesystem::rename(path + ".dead", path);
  constexpr int kThreads = 4;
  std::vector<std::optional<UnixListener>> listeners(kThreads);
  std::vector<std::thread> threads;
  for (auto& place : listeners)
    threads.emplace_back([&] {
      if (auto mine = UnixListener::listen(path, kind, soon())) place.emplace(*std::move(mine));
    });
  for (std::thread& thread : threads) thread.join();
  int count = 0;
  for (auto& place : listeners) {
    if (!place) continue;
    ++count;
    connect(*place);
  }
  EXPECT_EQ(count, 1);
}

TEST_P(UnixSockets, ConnectOnceSomebodyListens) {
  Status status;
  std::thread client([&] { status = UnixSocket::connect(path, kind, soon()).status(); });
  auto listener = listen();
  EXPECT_TRUE(listener.accept(soon()));
  client.join();
  EXPECT_TRUE(status) << status.text();
  listener.close();
  EXPECT_EQ(UnixSocket::connect(path, kind, shortly()).status().code(), Code::timed_out);
}

TEST_P(UnixSockets, ConnectByAbstractNameWithoutAnyFile) {
  path = "@" + directory;
  {
    auto listener = listen();
    connect(listener);
    EXPECT_EQ(UnixListener::listen(path, kind, soon()).status().code(), Code::invalid_usage);
    EXPECT_TRUE(std::filesystem::is_empty(directory));
  }
  EXPECT_EQ(UnixSocket::connect(path, kind, shortly()).status().code(), Code::timed_out);
}

TEST_P(UnixSockets, TakeNamesUpToTheLimitOfTheKernel) {
  const std::size_t room = kSocketNameBytesMax - directory.size() - 1;
  path = directory + "/" + std::string(room, 's');
  auto listener = listen();
  connect(listener);
  path += "s";
  for (const Status& status :
       {UnixListener::listen(path, kind, soon()).status(), UnixSocket::connect(path, kind, soon()).status()}) {
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_NE(status.text().find("has 108 bytes"), std::string::npos) << status.text();
  }
}

TEST_P(UnixSockets, SayWhichDirectoryIsMissing) {
  path = directory + "/no/socket";
  for (const Status& status :
       {UnixListener::listen(path, kind, soon()).status(), UnixSocket::connect(path, kind, soon()).status()}) {
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_NE(status.text().find("there is no directory '" + directory + "/no'"), std::string::npos) << status.text();
  }
  for (const std::string_view name : {"", "@"})
    EXPECT_EQ(UnixSocket::connect(name, kind, soon()).status().code(), Code::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(All, UnixSockets, testing::Values(SocketKind::stream, SocketKind::packet),
                         [](const auto& kind) { return kind.param == SocketKind::stream ? "Stream" : "Packet"; });

class PacketSockets : public UnixSockets {};
INSTANTIATE_TEST_SUITE_P(All, PacketSockets, testing::Values(SocketKind::packet));

TEST_P(PacketSockets, KeepTheBordersOfMessages) {
  auto listener = listen();
  auto [client, server] = connect(listener);
  const auto bytes = bytes_like(100);
  std::array<std::byte, 60> space{};
  ASSERT_TRUE(client.send_all(std::span(bytes).first(10), soon()));
  ASSERT_TRUE(client.send_all(std::span(bytes).first(60), soon()));
  EXPECT_EQ(*server.receive_packet(space, soon()), 10u);
  EXPECT_EQ(*server.receive_packet(space, soon()), 60u);
  ASSERT_TRUE(client.send_all(bytes, soon()));
  EXPECT_EQ(server.receive_packet(space, soon()).status().code(), Code::network);
  ASSERT_TRUE(client.send_all(std::span(bytes).first(10), soon()));
  EXPECT_EQ(server.receive_exactly(space, soon()).code(), Code::network);
}

TEST_P(PacketSockets, CarryOneDescriptorEach) {
  auto listener = listen();
  auto [client, server] = connect(listener);
  EXPECT_FALSE(server.try_receive_packet(16)->has_value());
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const FileDescriptor reading(pipe[0]);
  FileDescriptor writing(pipe[1]);
  const auto bytes = bytes_like(10);
  ASSERT_TRUE(*client.try_send_packet(bytes, writing.get()));
  writing.close();
  auto packet = server.try_receive_packet(16);
  ASSERT_TRUE(packet && packet->has_value());
  EXPECT_EQ((*packet)->bytes, bytes);
  EXPECT_NE(::fcntl((*packet)->descriptor.get(), F_GETFD) & FD_CLOEXEC, 0);
  ASSERT_EQ(::write((*packet)->descriptor.get(), bytes.data(), bytes.size()), 10);
  std::array<std::byte, 16> received{};
  EXPECT_EQ(::read(reading.get(), received.data(), received.size()), 10);
}

TEST_P(PacketSockets, RefuseAPacketWithoutADescriptorAndOneThatIsTooLong) {
  auto listener = listen();
  auto [client, server] = connect(listener);
  const auto bytes = bytes_like(10);
  ASSERT_TRUE(client.send_all(bytes, soon()));
  EXPECT_EQ(server.try_receive_packet(16).status().code(), Code::invalid_argument);
  ASSERT_TRUE(*client.try_send_packet(bytes, listener.descriptor()));
  EXPECT_EQ(server.try_receive_packet(9).status().code(), Code::invalid_argument);
  { const UnixSocket gone = std::move(client); }
  EXPECT_EQ(server.try_receive_packet(16).status().code(), Code::peer_lost);
  EXPECT_EQ(server.try_send_packet(bytes, listener.descriptor()).status().code(), Code::peer_lost);
}

class StreamSockets : public UnixSockets {};
INSTANTIATE_TEST_SUITE_P(All, StreamSockets, testing::Values(SocketKind::stream));

TEST_P(StreamSockets, CarryMoreThanTheKernelHolds) {
  auto listener = listen();
  auto [client, server] = connect(listener);
  const auto sent = bytes_like(std::size_t{8} << 20);
  std::vector<std::byte> received(sent.size());
  std::thread sender([&to = client, &sent] { EXPECT_TRUE(to.send_all(sent, soon())); });
  EXPECT_TRUE(server.receive_exactly(received, soon()));
  sender.join();
  EXPECT_EQ(received, sent);
}

}  // namespace
}  // namespace tutti::os

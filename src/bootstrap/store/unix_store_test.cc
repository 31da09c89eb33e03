#include "bootstrap/store/unix_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <thread>

#include "bootstrap/store/place_for_test.h"
#include "bootstrap/store/request.h"
#include "bootstrap/store/unix_server.h"
#include "os/unix_socket.h"

#if defined(TUTTI_HAS_THREAD_SANITIZER)
// Threads of earlier tests may still be ending when a test makes processes, which have threads of their own.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }
#endif

namespace tutti::bootstrap {
namespace {

class UnixStoreTest : public testing::Test {
 protected:
  std::unique_ptr<Store> serve() { return checked(serve_unix_store(path, soon())); }
  std::unique_ptr<Store> connect() { return checked(connect_unix_store(path, soon())); }
  os::UnixSocket raw() { return *os::UnixSocket::connect(path, os::SocketKind::stream, soon()); }
  static std::unique_ptr<Store> checked(Result<std::unique_ptr<Store>> store) {
    if (!store) ADD_FAILURE() << store.status().text();
    return store ? *std::move(store) : create_process_store();
  }
  static bool is_dropped(os::UnixSocket& socket) {
    std::array<std::byte, 1> byte{};
    return socket.receive_exactly(byte, soon()).code() == Code::peer_lost;
  }

  TemporaryDirectory directory;
  std::string path = directory / "socket";
};

TEST_F(UnixStoreTest, TheSocketIsForTheUserAloneAndGoesWithTheServer) {
  auto store = serve();
  struct stat found {};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_TRUE(S_ISSOCK(found.st_mode));
  EXPECT_EQ(found.st_mode & 07777, 0600u);
  store.reset();
  EXPECT_TRUE(directory.is_empty());
}

TEST_F(UnixStoreTest, ClientsMayComeBeforeTheServer) {
  Status status;
  std::thread client([&] {
    const auto store = connect_unix_store(path, soon());
    status = store ? (*store)->set("key", value_of("value")) : store.status();
  });
  const auto store = serve();
  EXPECT_EQ(*store->wait("key", soon()), value_of("value"));
  client.join();
  EXPECT_TRUE(status) << status.text();
}

TEST_F(UnixStoreTest, WithoutAServerAClientTimesOutAndNamesThePath) {
  const auto store = connect_unix_store(path, soon(std::chrono::milliseconds(5)));
  EXPECT_EQ(store.status().code(), Code::timed_out);
  EXPECT_NE(store.status().text().find(path), std::string::npos);
}

TEST_F(UnixStoreTest, ASecondServerIsRefusedAndDoesNoHarm) {
  const auto store = serve();
  const auto second = serve_unix_store(path, soon());
  EXPECT_EQ(second.status().code(), Code::invalid_usage);
  EXPECT_NE(second.status().text().find(path), std::string::npos);
  EXPECT_TRUE(connect()->set("key", {}));
}

TEST_F(UnixStoreTest, TheSocketOfAKilledServerIsReplaced) {
  const auto work = [&](int) {
    static const auto store = serve();  // never destroyed
    return store->set("old", {}).is_ok();
  };
  ASSERT_EQ(run_in_processes(1, work), 1);
  ASSERT_FALSE(directory.is_empty());
  const auto store = serve();
  EXPECT_FALSE(connect()->get("old")->has_value());
}

TEST_F(UnixStoreTest, PathsThatCannotBeSayWhy) {
  std::ofstream(path) << "notes";
  const auto file = serve_unix_store(path, soon());
  EXPECT_NE(file.status().text().find("no socket"), std::string::npos) << file.status().text();
  EXPECT_TRUE(std::filesystem::exists(path));
  for (const auto open : {serve_unix_store, connect_unix_store}) {
    const auto nowhere = open(directory / "no/socket", soon());
    EXPECT_EQ(nowhere.status().code(), Code::invalid_argument);
    EXPECT_NE(nowhere.status().text().find("there is no directory"), std::string::npos) << nowhere.status().text();
    const auto too_long = open(directory / std::string(120, 's'), soon());
    EXPECT_EQ(too_long.status().code(), Code::invalid_argument);
    EXPECT_NE(too_long.status().text().find("the kernel takes 107"), std::string::npos) << too_long.status().text();
  }
}

TEST_F(UnixStoreTest, AClientThatSendsGarbageIsDropped) {
  const auto store = serve();
  const Bytes endless = value_of("\xff\xff\xff\xff");
  const Bytes no_request = value_of(std::string_view("\x02\0\0\0\x63\x63", 6));
  for (const Bytes& garbage : {endless, no_request}) {
    auto client = raw();
    ASSERT_TRUE(client.send_all(garbage, soon()));
    EXPECT_TRUE(is_dropped(client));
  }
  EXPECT_EQ(*store->add("counter", 1), 1);
}

TEST_F(UnixStoreTest, AClientThatAsksWhileItWaitsIsDropped) {
  const auto store = serve();
  auto client = raw();
  const Bytes wait = frame_of({.kind = RequestKind::wait, .key = "key"});
  ASSERT_TRUE(client.send_all(wait, soon()));
  ASSERT_TRUE(client.send_all(wait, soon()));
  EXPECT_TRUE(is_dropped(client));
  EXPECT_TRUE(store->set("key", {}));
}

TEST_F(UnixStoreTest, AClientThatDiesWhileItWaitsDoesNoHarm) {
  const auto store = serve();
  for (int round = 0; round < 10; ++round) {
    auto client = raw();
    ASSERT_TRUE(client.send_all(frame_of({.kind = RequestKind::wait, .key = "key"}), soon()));
  }
  EXPECT_TRUE(store->set("key", value_of("value")));
  EXPECT_EQ(*connect()->wait("key", passed()), value_of("value"));
}

TEST_F(UnixStoreTest, ARequestMayComeByteByByte) {
  const auto store = serve();
  auto client = raw();
  for (const std::byte byte : frame_of({.kind = RequestKind::add, .key = "counter", .delta = 7}))
    ASSERT_TRUE(client.send_all({&byte, 1}, soon()));
  std::array<std::byte, kFrameHeaderBytes> header{};
  ASSERT_TRUE(client.receive_exactly(header, soon()));
  EXPECT_EQ(*store->add("counter", 0), 7);
}

TEST_F(UnixStoreTest, AClientThatDoesNotReadItsRepliesHoldsUpNobody) {
  const auto store = serve();
  ASSERT_TRUE(store->set("large", Bytes(kValueBytesMax)));
  auto client = raw();
  constexpr int kRequests = 100;
  for (int request = 0; request < kRequests; ++request)
    ASSERT_TRUE(client.send_all(frame_of({.kind = RequestKind::get, .key = "large"}), soon()));
  EXPECT_EQ(*store->add("counter", 1), 1);
  // And all its replies are still there for it.
  Bytes reply(frame_of(Reply{Outcome::value, Code::ok, Bytes(kValueBytesMax)}).size());
  for (int request = 0; request < kRequests; ++request) ASSERT_TRUE(client.receive_exactly(reply, soon()));
}

TEST_F(UnixStoreTest, OtherUsersAreNotServedEvenWhereTheyGetTo) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  constexpr uid_t kNobody = 65534;
  auto listener = os::UnixListener::listen(path, os::SocketKind::stream, soon());  // one that serves nobody
  ASSERT_TRUE(listener);
  ASSERT_EQ(::chmod((directory / "").c_str(), 0755), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  const auto refuses_server_of_root = [&](int) {
    if (::setuid(kNobody) != 0) return false;
    return connect_unix_store(path, soon()).status().text().find("is served by user 0") != std::string_view::npos;
  };
  EXPECT_EQ(run_in_processes(1, refuses_server_of_root), 1);
  listener->close();

  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    char byte = 0;
    if (::read(ready[0], &byte, 1) != 1 || ::setuid(kNobody) != 0) ::_exit(1);
    auto socket = os::UnixSocket::connect(path, os::SocketKind::stream, soon());
    ::_exit(socket && is_dropped(*socket) ? 0 : 1);
  }
  const auto store = serve();
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  ASSERT_EQ(::write(ready[1], "x", 1), 1);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  for (const int fd : ready) ::close(fd);
}

TEST_F(UnixStoreTest, WhoWaitsWhenTheServerEndsIsTold) {
  auto server = UnixServer::start(path, soon(), std::chrono::nanoseconds(0));
  ASSERT_TRUE(server);
  const auto store = connect();
  Result<Bytes> value = Bytes();
  std::thread waiter([&] { value = store->wait("key", soon()); });
  server->reset();
  waiter.join();
  EXPECT_EQ(value.status().code(), Code::peer_lost);
  EXPECT_NE(value.status().text().find("rank 0"), std::string::npos) << value.status().text();
  EXPECT_EQ(store->set("key", {}).code(), Code::peer_lost);
}

TEST_F(UnixStoreTest, TheServerLetsThoseWhoAreConnectedFinish) {
  auto store = serve();
  auto client = connect();
  ASSERT_TRUE(client->set("key", value_of("value")));
  std::thread server([&] { store.reset(); });
  while (!directory.is_empty()) std::this_thread::yield();  // the end has begun
  EXPECT_EQ(client->get("key")->value(), value_of("value"));
  client.reset();
  server.join();
}

}  // namespace
}  // namespace tutti::bootstrap

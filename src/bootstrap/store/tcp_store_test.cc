#include "bootstrap/store/tcp_store.h"

#include <gtest/gtest.h>
#include <sys/uio.h>

#include <atomic>
#include <thread>

#include "bootstrap/store/place_for_test.h"
#include "os/tcp_socket.h"

namespace tutti::bootstrap {
namespace {

std::unique_ptr<Store> open(const MeetingAddress& address) {
  auto store = open_tcp_store(address, soon());
  if (!store) ADD_FAILURE() << store.status().text();
  return store ? *std::move(store) : create_process_store();
}

TEST(TcpStore, ServesSixtyFourClientsAtOnce) {
  constexpr int kClients = 64;
  TcpPlace place;
  std::atomic<int> complete = 0;
  std::vector<std::thread> threads;
  for (int index = 0; index < kClients; ++index)
    threads.emplace_back([&, index] {
      const auto store = open(place.address());
      const bool is_set = store->set(std::to_string(index), value_of(std::to_string(index * index))).is_ok();
      if (!is_set || !store->add("count", 1)) return;
      const int other = (index * 7 + 5) % kClients;
      const auto value = store->wait(std::to_string(other), soon());
      if (value && *value == value_of(std::to_string(other * other))) ++complete;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(complete, kClients);
  EXPECT_EQ(*open(place.address())->add("count", 0), kClients);
}

TEST(TcpStore, IsUnusedOnceItsClientsHaveGone) {
  TcpPlace place;
  EXPECT_TRUE(place.is_unused());
  auto store = open(place.address());
  EXPECT_FALSE(place.is_unused());
  store.reset();
  const Deadline deadline = soon();
  while (!place.is_unused() && !deadline.has_passed(os::now())) std::this_thread::yield();
  EXPECT_TRUE(place.is_unused());
}

TEST(TcpStore, SaysWhereItWasWhenItsServerHasEnded) {
  auto place = std::make_unique<TcpPlace>();
  const std::string where = place->address().contact.addresses.front();
  const auto store = open(place->address());
  Result<Bytes> waited = Bytes();
  std::thread waiter([&] { waited = store->wait("never", soon()); });
  ASSERT_TRUE(store->set("key", value_of("value")));
  place.reset();
  waiter.join();
  for (const Status& status : {waited.status(), store->get("key").status(), store->set("key", {})}) {
    EXPECT_EQ(status.code(), Code::peer_lost);
    EXPECT_NE(status.text().find(where), std::string::npos) << status.text();
  }
}

TEST(TcpStore, CannotBeOpenedWhereNobodyServesIt) {
  auto place = std::make_unique<TcpPlace>();
  const MeetingAddress address = place->address();
  place.reset();
  const Status status = open_tcp_store(address, soon()).status();
  EXPECT_EQ(status.code(), Code::peer_lost);
  EXPECT_NE(status.text().find(address.contact.addresses.front()), std::string::npos) << status.text();
}

TEST(TcpStore, IsClosedToThoseWhoDoNotKnowTheSecret) {
  TcpPlace place;
  const auto friend_store = open(place.address());
  MeetingAddress wrong = place.address();
  wrong.secret = *rpc::Secret::create();
  const Status status = open_tcp_store(wrong, soon(std::chrono::milliseconds(300))).status();
  EXPECT_EQ(status.code(), Code::network);
  EXPECT_NE(status.text().find(wrong.contact.addresses.front()), std::string::npos) << status.text();
  EXPECT_NE(status.text().find("secret"), std::string::npos) << status.text();
  EXPECT_TRUE(friend_store->set("key", {}));
}

TEST(TcpStore, StrangersDoItNoHarm) {
  TcpPlace place;
  const auto address = os::TcpAddress::parse(place.address().contact.addresses.front());
  std::vector<os::TcpSocket> strangers;
  for (int index = 0; index < 100; ++index) {
    auto socket = os::TcpSocket::connect(*address, {}, {}, soon());
    ASSERT_TRUE(socket) << socket.status().text();
    std::string words = "GET / HTTP/1.1\r\n\r\n";
    const iovec data{words.data(), words.size()};
    if (index % 2 == 0) static_cast<void>(socket->try_write(std::span(&data, 1)));
    strangers.push_back(*std::move(socket));
  }
  const auto store = open(place.address());
  ASSERT_TRUE(store->set("key", value_of("value")));
  EXPECT_EQ(open(place.address())->get("key")->value(), value_of("value"));
}

TEST(TcpStore, GarbageOfAClientIsNotAnswered) {
  TcpPlace place;
  const MeetingAddress address = place.address();
  class Silent final : public Actor {
    void receive(ActorId, std::span<const std::byte>) override { FAIL() << "garbage was answered"; }
    void lost(ActorId, const Status&) override {}
    void wake() override {}
  } actor;
  const auto courier = *rpc::Courier::start({.secret = address.secret, .listen = {"127.0.0.1:0"}});
  const auto world = *courier->attach(kStoreService, actor);
  for (std::size_t size = 0; size < 64; ++size)
    courier->run([&] { world->send(address.contact, Bytes(size, static_cast<std::byte>(size))); });
  const auto store = open(address);
  EXPECT_EQ(*store->add("counter", 1), 1);
}

TEST(TcpStore, UsesTheCourierOfTheJobWhereThereIsOne) {
  TcpPlace place;
  const MeetingAddress address = place.address();
  const auto courier = *rpc::Courier::start({.secret = address.secret, .listen = {"127.0.0.1:0"}});
  const auto store = open_tcp_store(*courier, address.contact, soon());
  ASSERT_TRUE(store) << store.status().text();
  EXPECT_EQ(*(*store)->add("counter", 2), 2);
  EXPECT_FALSE(open_tcp_store(*courier, address.contact, soon())) << "a courier has room for one";
}

TEST(TcpStore, TellsAThreadTooManyAndLetsTheOthersWait) {
  TcpPlace place;
  const auto store = open(place.address());
  std::vector<std::thread> threads;
  std::atomic<int> refused = 0;
  std::atomic<int> served = 0;
  for (std::size_t index = 0; index < kCallsMax + 4; ++index)
    threads.emplace_back([&] {
      const auto value = store->wait("key", soon());
      if (value) ++served;
      if (value.status().code() == Code::invalid_usage) ++refused;
    });
  const Deadline deadline = soon();
  while (refused < 4 && !deadline.has_passed(os::now())) std::this_thread::yield();
  EXPECT_TRUE(open(place.address())->set("key", Bytes(kValueBytesMax)));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 4);
  EXPECT_EQ(served, static_cast<int>(kCallsMax));
}

TEST(TcpStore, IsFoundByTheIdentifierOfAMeetingPoint) {
  const auto identifier = Identifier::create();
  ASSERT_TRUE(identifier) << identifier.status().text();
  const auto one = open_store("tcp:" + identifier->text(), 0, soon());
  const auto other = open_store("tcp:" + identifier->text(), 1, soon());
  ASSERT_TRUE(one) << one.status().text();
  ASSERT_TRUE(other) << other.status().text();
  ASSERT_TRUE((*one)->set("key", value_of("value")));
  EXPECT_EQ(*(*other)->wait("key", soon()), value_of("value"));
}

TEST(TcpStore, KeepsASpoiltIdentifierOutOfTheMessage) {
  const auto identifier = Identifier::create();
  ASSERT_TRUE(identifier) << identifier.status().text();
  std::string text = identifier->text();
  text[20] = text[20] == 'A' ? 'B' : 'A';
  const Status status = open_store("tcp:" + text, 0, soon()).status();
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_EQ(status.text().find(text.substr(30, 8)), std::string::npos) << status.text();
  EXPECT_NE(status.text().find("identifier"), std::string::npos) << status.text();
}

}  // namespace
}  // namespace tutti::bootstrap

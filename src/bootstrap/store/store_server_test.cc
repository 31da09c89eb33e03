#include "bootstrap/store/store_server.h"

#include <gtest/gtest.h>

namespace tutti::bootstrap {
namespace {

// A world in which nothing happens by itself; what the server says is kept.
class Desk final : public World {
 public:
  Time now() override { return time; }
  std::uint64_t random() override { return 0; }
  void send(const Contact& to, Bytes message) override { answers.emplace_back(to.id, *parse_answer(message)); }
  void wake_at(Time at) override { wake = at; }
  void forget(ActorId actor) override { forgotten.push_back(actor); }

  Time time{1000};
  Time wake{};
  std::vector<std::pair<ActorId, StoreAnswer>> answers;
  std::vector<ActorId> forgotten;
};

constexpr ActorId kOne{1};
constexpr ActorId kTwo{2};

class StoreServerTest : public testing::Test {
 protected:
  void call(ActorId from, const StoreCall& call) { server.receive(from, message_of(call)); }
  void add(ActorId from, std::uint64_t number, std::uint64_t oldest) {
    call(from, {.number = number, .oldest = oldest, .request = {.kind = RequestKind::add, .key = "sum", .delta = 1}});
  }
  void wait(ActorId from, std::uint64_t number, std::uint64_t wait_ns) {
    call(from, {.number = number, .wait_ns = wait_ns, .request = {.kind = RequestKind::wait, .key = "key"}});
  }
  const Reply& last() { return desk.answers.back().second.reply; }
  std::int64_t last_sum() { return load_number<std::int64_t>(last().value); }

  Desk desk;
  StoreServer server{desk, {.clients = 2, .waits = 3, .remembered = 2}};
};

TEST_F(StoreServerTest, ACallThatComesTwiceCountsOnce) {
  add(kOne, 1, 1);
  add(kOne, 1, 1);
  EXPECT_EQ(last_sum(), 1);
  add(kTwo, 1, 1);
  EXPECT_EQ(last_sum(), 2) << "another client has numbers of its own";
  server.lost(kOne, Status(Code::network, "cut"));
  add(kOne, 1, 1);
  EXPECT_EQ(last_sum(), 1) << "also after a lost connection";
  EXPECT_EQ(desk.answers.size(), 4u);
}

TEST_F(StoreServerTest, ForgetsAChangeWhoseAnswerHasArrived) {
  for (std::uint64_t number = 1; number <= 100; ++number) add(kOne, number, number);
  EXPECT_EQ(last_sum(), 100) << "more changes than it can remember";
  add(kOne, 5, 5);
  EXPECT_EQ(desk.answers.size(), 100u) << "a call that was answered long ago is a late copy";
}

TEST_F(StoreServerTest, RefusesMoreChangesThanItCanRemember) {
  add(kOne, 1, 1);
  add(kOne, 2, 1);
  add(kOne, 3, 1);
  EXPECT_EQ(last().code, Code::out_of_memory);
  add(kOne, 4, 3);
  EXPECT_EQ(last_sum(), 3);
}

TEST_F(StoreServerTest, ARepeatedCompareAndSwapStillSaysThatItWon) {
  const StoreCall swap{
      .number = 1, .request = {.kind = RequestKind::compare_and_swap, .key = "key", .expected = {}, .value = Bytes(1)}};
  call(kOne, swap);
  call(kTwo, {.number = 1, .request = {.kind = RequestKind::set, .key = "key", .value = Bytes(2)}});
  call(kOne, swap);
  EXPECT_EQ(last().value, Bytes(1));
  call(kTwo, {.number = 2, .oldest = 2, .request = {.kind = RequestKind::get, .key = "key"}});
  EXPECT_EQ(last().value, Bytes(2));
}

TEST_F(StoreServerTest, WaitsEndAtTheirDeadlineOrWithTheKey) {
  wait(kOne, 1, 0);
  EXPECT_EQ(last().outcome, Outcome::absent);
  wait(kOne, 2, 50);
  wait(kOne, 3, 500);
  EXPECT_EQ(desk.answers.size(), 1u);
  EXPECT_EQ(desk.wake, Time{1050});
  desk.time = {1050};
  server.wake();
  EXPECT_EQ(desk.answers.size(), 2u);
  EXPECT_EQ(desk.answers.back().second.number, 2u);
  EXPECT_EQ(desk.wake, Time{1500});
  call(kTwo, {.number = 1, .request = {.kind = RequestKind::set, .key = "key", .value = Bytes(9)}});
  EXPECT_EQ(desk.answers.back().second.number, 3u);
  EXPECT_EQ(last().value, Bytes(9));
}

TEST_F(StoreServerTest, RefusesMoreWaitsThanItHasRoomForUntilSomebodyGoes) {
  for (std::uint64_t number = 1; number <= 3; ++number) wait(kOne, number, 50);
  wait(kTwo, 1, 50);
  EXPECT_EQ(last().code, Code::out_of_memory);
  server.lost(kOne, Status(Code::network, "cut"));
  wait(kTwo, 2, 50);
  EXPECT_EQ(desk.answers.size(), 1u);
}

TEST_F(StoreServerTest, ARepeatedWaitNeedsNoRoomOfItsOwn) {
  for (std::uint64_t number = 1; number <= 3; ++number) wait(kOne, number, 50);
  for (std::uint64_t number = 1; number <= 3; ++number) wait(kOne, number, 60);
  EXPECT_TRUE(desk.answers.empty());
}

TEST_F(StoreServerTest, RefusesAClientTooManyUnlessOneWasCutOff) {
  add(kOne, 1, 1);
  add(kTwo, 1, 1);
  add(ActorId{3}, 1, 1);
  EXPECT_EQ(last().code, Code::out_of_memory);
  EXPECT_EQ(desk.forgotten, std::vector<ActorId>{ActorId{3}});
  server.lost(kOne, Status(Code::network, "cut"));
  add(ActorId{3}, 1, 1);
  EXPECT_EQ(last_sum(), 3);
}

TEST_F(StoreServerTest, IsUnusedWhenAllHaveGone) {
  EXPECT_TRUE(server.is_unused());
  add(kOne, 1, 1);
  add(kTwo, 1, 1);
  server.lost(kOne, Status(Code::network, "cut"));
  EXPECT_FALSE(server.is_unused());
  server.lost(kTwo, Status(Code::peer_lost, "ended"));
  EXPECT_TRUE(server.is_unused());
}

}  // namespace
}  // namespace tutti::bootstrap

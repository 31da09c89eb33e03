#include "sim/world.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "sim/seeds.h"

namespace tutti::sim {
namespace {

using namespace std::chrono_literals;

// Says numbers to a peer and writes down what it hears.
class Speaker final : public Actor {
 public:
  struct Book {
    std::vector<std::uint32_t> heard;
    std::vector<Status> lost;
    int wakes = 0;
  };
  Speaker(tutti::World& world, Book& book) : world_(world), book_(book) {}

  void say(const Contact& to, std::uint32_t number) {
    Bytes message;
    append_number(message, number);
    world_.send(to, message);
  }
  void receive(ActorId, std::span<const std::byte> message) override {
    book_.heard.push_back(*ByteReader(message).number<std::uint32_t>());
  }
  void lost(ActorId, const Status& why) override { book_.lost.push_back(why); }
  void wake() override { ++book_.wakes; }
  tutti::World& world() { return world_; }

 private:
  tutti::World& world_;
  Book& book_;
};

struct Pair {
  World world;
  Speaker::Book books[2];
  Speaker* speakers[2] = {};
  Contact contacts[2];

  explicit Pair(std::uint64_t seed) : world(seed) {
    for (int index = 0; index < 2; ++index)
      contacts[index] = world.spawn([&](tutti::World& place, const Contact&) {
        auto speaker = std::make_unique<Speaker>(place, books[index]);
        speakers[index] = speaker.get();
        return speaker;
      });
  }
  void cut(int from, int to) { world.cut(std::span(&contacts[from].id, 1), std::span(&contacts[to].id, 1)); }
};

TEST(SimWorld, DeliversInOrderWithinOneDirection) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Pair pair(seed);
    std::vector<std::uint32_t> said;
    for (std::uint32_t number = 0; number < 100; ++number) {
      pair.speakers[0]->say(pair.contacts[1], number);
      said.push_back(number);
    }
    pair.world.run_for(1s);
    EXPECT_EQ(pair.books[1].heard, said);
  }
}

TEST(SimWorld, TellsPeersOfACrashedProcessAndRefusesNewConnections) {
  Pair pair(1);
  pair.speakers[0]->say(pair.contacts[1], 1);
  pair.world.run_for(100ms);
  pair.world.crash(pair.contacts[1].id);
  pair.world.run_for(200ms);
  ASSERT_EQ(pair.books[0].lost.size(), 1u);
  EXPECT_EQ(pair.books[0].lost[0].code(), Code::peer_lost);
  pair.speakers[0]->say(pair.contacts[1], 2);
  pair.world.run_for(200ms);
  ASSERT_EQ(pair.books[0].lost.size(), 2u);
  EXPECT_EQ(pair.books[0].lost[1].code(), Code::peer_lost);
  EXPECT_EQ(pair.world.traffic(pair.contacts[0].id).connections, 0u);
}

TEST(SimWorld, KeepsWhatAStoppedProcessGetsUntilItContinues) {
  Pair pair(2);
  pair.speakers[0]->say(pair.contacts[1], 1);
  pair.world.run_for(100ms);
  pair.world.hang(pair.contacts[1].id);
  pair.speakers[1]->world().wake_at(after(pair.world.now(), 1s));
  pair.speakers[0]->say(pair.contacts[1], 2);
  pair.world.run_for(20s);
  EXPECT_EQ(pair.books[1].heard.size(), 1u);
  EXPECT_EQ(pair.books[1].wakes, 0);
  EXPECT_TRUE(pair.books[0].lost.empty());
  pair.world.resume(pair.contacts[1].id);
  pair.world.run_for(1ms);
  EXPECT_EQ(pair.books[1].heard, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(pair.books[1].wakes, 1);
}

TEST(SimWorld, LosesWhatIsCutWithAllThatFollowsUntilTheSenderHearsOfIt) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Pair pair(seed);
    pair.speakers[0]->say(pair.contacts[1], 1);
    pair.world.run_for(100ms);
    pair.cut(0, 1);
    pair.world.run_for(1ms);
    pair.speakers[0]->say(pair.contacts[1], 2);
    pair.world.run_for(100ms);
    pair.world.heal();
    pair.speakers[0]->say(pair.contacts[1], 3);
    ASSERT_TRUE(pair.world.run_until([&] { return !pair.books[0].lost.empty(); }, after(pair.world.now(), 4s)));
    EXPECT_EQ(pair.books[0].lost[0].code(), Code::network);
    pair.speakers[0]->say(pair.contacts[1], 4);
    pair.world.run_for(100ms);
    EXPECT_EQ(pair.books[1].heard, (std::vector<std::uint32_t>{1, 4}));
  }
}

TEST(SimWorld, ConnectingThroughACutTimesOutWithAnUnknownFate) {
  Pair pair(3);
  pair.cut(1, 0);  // one way is enough
  pair.world.run_for(1ms);
  pair.speakers[0]->say(pair.contacts[1], 1);
  pair.world.run_for(900ms);
  EXPECT_TRUE(pair.books[0].lost.empty());
  pair.world.run_for(3s);
  ASSERT_EQ(pair.books[0].lost.size(), 1u);
  EXPECT_EQ(pair.books[0].lost[0].code(), Code::network);
}

TEST(SimWorld, ForgettingClosesAConnectionAfterWhatWasSaid) {
  Pair pair(4);
  pair.speakers[0]->say(pair.contacts[1], 1);
  pair.speakers[0]->world().forget(pair.contacts[1].id);
  pair.world.run_for(100ms);
  EXPECT_EQ(pair.books[1].heard.size(), 1u);
  EXPECT_EQ(pair.world.traffic(pair.contacts[0].id).connections, 0u);
  EXPECT_TRUE(pair.books[1].lost.empty());
  pair.speakers[1]->say({pair.contacts[0].id, {}}, 2);  // there is no way back without an address
  pair.world.run_for(100ms);
  ASSERT_EQ(pair.books[1].lost.size(), 1u);
  EXPECT_EQ(pair.books[1].lost[0].code(), Code::network);
}

TEST(SimWorld, TheLastRequestedWakeCounts) {
  Pair pair(5);
  pair.speakers[0]->world().wake_at(after(pair.world.now(), 1s));
  pair.speakers[0]->world().wake_at(after(pair.world.now(), 2s));
  pair.world.run_for(1500ms);
  EXPECT_EQ(pair.books[0].wakes, 0);
  pair.world.run_for(1s);
  EXPECT_EQ(pair.books[0].wakes, 1);
}

TEST(Seeds, AFaultNamesTheCommandThatRepeatsIt) {
  if (std::getenv("TUTTI_SIM_SEED") != nullptr) GTEST_SKIP() << "a person repeats one seed";
  int count = 0;
  std::uint64_t last = 0;
  const std::string fault = run_seeds("bin/sim_test", "A.B", 10, [&](std::uint64_t seed) {
    last = seed;
    return ++count == 3 ? std::string("two rosters") : std::string();
  });
  EXPECT_EQ(count, 3);
  EXPECT_EQ(fault,
            "two rosters\nrepeat it with: TUTTI_SIM_SEED=" + std::to_string(last) + " bin/sim_test --gtest_filter=A.B");
}

}  // namespace
}  // namespace tutti::sim

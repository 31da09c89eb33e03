// The store of a meeting point in a world that loses connections: every change is made once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "bootstrap/store/store_client.h"
#include "bootstrap/store/store_server.h"
#include "sim/seeds.h"
#include "sim/world.h"

namespace tutti::sim {
namespace {

using namespace std::chrono_literals;
using bootstrap::Reply;
using bootstrap::Request;
using bootstrap::RequestKind;
using bootstrap::StoreClient;
using bootstrap::StoreServer;

#ifdef TUTTI_HAS_SANITIZER
constexpr int kSeeds = 30;
#else
constexpr int kSeeds = 300;
#endif
constexpr int kClients = 6;
constexpr int kRounds = 20;

// Adds 1 to the same counter again and again, takes a token of its own in between, and writes down what it hears.
struct Counting {
  World& world;
  int index = 0;
  StoreClient* client = nullptr;
  int round = 0;
  std::vector<std::int64_t> sums = {};
  std::vector<std::string> faults = {};

  StoreClient::Patience patience(std::chrono::nanoseconds wait = 0ns) const {
    return {.wait = Deadline::after(world.now(), wait), .reply = Deadline::after(world.now(), 120s)};
  }
  bool is_done() const { return round == kRounds || !faults.empty(); }
  void fail(const Status& status) { faults.emplace_back(status.text()); }

  void add() {
    client->ask({.kind = RequestKind::add, .key = "counter", .delta = 1}, patience(), [this](Result<Reply> reply) {
      if (!reply) return fail(reply.status());
      sums.push_back(load_number<std::int64_t>(reply->value));
      swap();
    });
  }
  // The name of the round, where the one before stands: made twice, it would find itself there and fail.
  void swap() {
    Bytes expected;
    Bytes desired;
    if (round > 0) append_number(expected, round);
    append_number(desired, round + 1);
    const Request request{.kind = RequestKind::compare_and_swap,
                          .key = fmt::format("round of {}", index),
                          .expected = expected,
                          .value = desired};
    client->ask(request, patience(), [this, desired](Result<Reply> reply) {
      if (!reply) return fail(reply.status());
      if (reply->value != desired) return fail(invalid_argument(fmt::format("round {} was taken", round)));
      if (++round < kRounds) add();
    });
  }
};

struct Trial {
  explicit Trial(std::uint64_t seed) : world(seed) {
    server = world.spawn([](tutti::World& its, const Contact&) { return std::make_unique<StoreServer>(its); });
    for (int index = 0; index < kClients; ++index) {
      auto counting = std::make_unique<Counting>(Counting{.world = world, .index = index});
      actors.push_back(world
                           .spawn([&](tutti::World& its, const Contact&) {
                             auto client = std::make_unique<StoreClient>(its, server);
                             counting->client = client.get();
                             return client;
                           })
                           .id);
      clients.push_back(std::move(counting));
    }
  }

  // Connections between the server and some clients, in one direction or both, until they come back.
  void cut_now_and_then() {
    for (int index = 0; index < 8; ++index) {
      const Time begin = after(world.now(), std::chrono::milliseconds(1 + world.random().below(3000)));
      const ActorId actor = actors[world.random().below(kClients)];
      const auto ways = world.random().below(3);
      world.at(begin, [this, actor, ways] {
        const ActorId one[] = {server.id};
        const ActorId other[] = {actor};
        if (ways != 0) world.cut(one, other);
        if (ways != 1) world.cut(other, one);
      });
      world.at(after(begin, std::chrono::milliseconds(1 + world.random().below(4000))), [this] { world.heal(); });
    }
  }

  bool all_done() const {
    return std::ranges::all_of(clients, [](const auto& each) { return each->is_done(); });
  }

  World world;
  Contact server;
  std::vector<std::unique_ptr<Counting>> clients;
  std::vector<ActorId> actors;
};

std::string count_with_cuts(std::uint64_t seed) {
  Trial trial(seed);
  trial.cut_now_and_then();
  for (const auto& each : trial.clients) trial.world.at(trial.world.now(), [client = each.get()] { client->add(); });
  if (!trial.world.run_until([&] { return trial.all_done(); }, after(trial.world.now(), 300s))) return "no end";
  std::set<std::int64_t> sums;
  for (const auto& each : trial.clients) {
    if (!each->faults.empty()) return each->faults.front();
    sums.insert(each->sums.begin(), each->sums.end());
  }
  if (sums.size() != kClients * kRounds) return fmt::format("{} different sums", sums.size());
  if (*sums.rbegin() != kClients * kRounds) return fmt::format("the counter is {}", *sums.rbegin());
  return {};
}

TEST(Store, MakesEveryChangeOnceAlthoughConnectionsAreLost) {
  EXPECT_EQ(run_seeds("sim_test", "Store.MakesEveryChangeOnceAlthoughConnectionsAreLost", kSeeds, count_with_cuts), "");
}

TEST(Store, WaitsEndWithTheKeyAndAtTheDeadlineAcrossALostConnection) {
  Trial trial(7);
  World& world = trial.world;
  const Time begin = world.now();
  std::optional<Result<Reply>> never;
  std::optional<Result<Reply>> soon;
  world.at(begin, [&] {
    const auto wait = [&](const char* key, std::chrono::nanoseconds until, auto& to) {
      trial.clients[0]->client->ask({.kind = RequestKind::wait, .key = key}, trial.clients[0]->patience(until),
                                    [&](Result<Reply> reply) { to.emplace(std::move(reply)); });
    };
    wait("never", 10s, never);
    wait("soon", 60s, soon);
  });
  world.run_for(1s);
  const ActorId server[] = {trial.server.id};
  const ActorId client[] = {trial.actors[0]};
  world.cut(server, client);
  world.cut(client, server);
  trial.clients[1]->client->ask({.kind = RequestKind::set, .key = "soon", .value = Bytes(3)},
                                trial.clients[1]->patience(), [](const Result<Reply>& reply) { ASSERT_TRUE(reply); });
  world.run_for(5s);
  world.heal();
  ASSERT_TRUE(world.run_until([&] { return never && soon; }, after(begin, 60s)));
  ASSERT_TRUE(*soon) << soon->status().text();
  EXPECT_EQ((*soon)->value, Bytes(3));
  ASSERT_TRUE(*never) << never->status().text();
  EXPECT_EQ((*never)->outcome, bootstrap::Outcome::absent);
  EXPECT_GE(world.now(), after(begin, 10s));
}

TEST(Store, ACallFailsInTimeWhenTheServerHangs) {
  Trial trial(9);
  World& world = trial.world;
  world.hang(trial.server.id);
  std::optional<Result<Reply>> reply;
  world.at(world.now(), [&] {
    trial.clients[0]->client->ask({.kind = RequestKind::get, .key = "key"}, trial.clients[0]->patience(),
                                  [&](Result<Reply> result) { reply.emplace(std::move(result)); });
  });
  ASSERT_TRUE(world.run_until([&] { return reply.has_value(); }, after(world.now(), 130s)));
  EXPECT_EQ(reply->status().code(), Code::network);
  EXPECT_NE(reply->status().text().find(trial.server.addresses.front()), std::string::npos) << reply->status().text();
}

}  // namespace
}  // namespace tutti::sim

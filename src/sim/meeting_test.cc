#include "bootstrap/membership/meeting.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "sim/seeds.h"
#include "sim/start_for_test.h"
#include "sim/world.h"

namespace tutti::sim {
namespace {

using namespace std::chrono_literals;

#ifdef TUTTI_HAS_SANITIZER
constexpr Rank kManyRanks = 512;
constexpr int kSeeds = 40;
#else
constexpr Rank kManyRanks = 4096;
constexpr int kSeeds = 400;
#endif

double seconds(Time from, Time to) { return static_cast<double>(to.ns - from.ns) * 1e-9; }

std::string fault_of(const Start& start, std::size_t index, Rank rank) {
  const auto& outcome = *start.outcomes[index];
  if (outcome.ends != 1) return fmt::format("rank {} ended {} times", rank, outcome.ends);
  if (!outcome.status) return fmt::format("rank {}: {}", rank, outcome.status.text());
  if (outcome.rank != rank) return fmt::format("rank {} became rank {}", rank, outcome.rank);
  if (outcome.roster_digest != start.outcomes[0]->roster_digest) return fmt::format("rank {}: another roster", rank);
  return {};
}

TEST(Meeting, ThousandsOfRanksMeetInLogarithmicTimeWithFewConnections) {
  World world(11);
  Start start(world, kManyRanks, MeetingPlace::rank_0);
  start.keeps_rosters = false;
  const Time begin = world.now();
  start.begin_all();
  ASSERT_TRUE(world.run_until([&] { return start.all_ended(); }, after(begin, 60s)));
  EXPECT_LT(seconds(begin, world.now()), 1.0);
  ASSERT_TRUE(world.run_until([&] { return start.meeting().is_done(); }, after(begin, 60s)));
  EXPECT_LT(seconds(begin, world.now()), 2.0);
  std::uint64_t messages = 0;
  for (Rank rank = 0; rank < kManyRanks; ++rank) {
    ASSERT_EQ(fault_of(start, static_cast<std::size_t>(rank), rank), "");
    const Traffic traffic = world.traffic(start.outcomes[static_cast<std::size_t>(rank)]->actor);
    messages += traffic.messages_sent;
    if (rank == 0) continue;
    EXPECT_LE(traffic.connections_max, std::size_t{bootstrap::kTreeFan + 2}) << rank;
    EXPECT_LE(traffic.messages_sent, std::uint64_t{2 * bootstrap::kTreeFan + 6}) << rank;
  }
  EXPECT_LE(messages, std::uint64_t{8} * kManyRanks);
  world.run_for(1s);
  EXPECT_EQ(world.traffic(start.meeting_actor()).connections, 0u);  // nobody keeps what it does not need
}

TEST(Meeting, OneRankMeetsItself) {
  World world(3);
  Start start(world, 1, MeetingPlace::rank_0);
  start.begin_all();
  ASSERT_TRUE(world.run_until([&] { return start.all_ended() && start.meeting().is_done(); }, after(world.now(), 5s)));
  EXPECT_EQ(fault_of(start, 0, 0), "");
}

TEST(Meeting, RostersCarryContactsProcessesAndCards) {
  World world(4);
  Start start(world, 9, MeetingPlace::launcher);
  start.begin_all();
  ASSERT_TRUE(world.run_until([&] { return start.all_ended(); }, after(world.now(), 5s)));
  const auto& roster = *start.rosters[8];
  EXPECT_EQ(roster.epoch, 1u);
  ASSERT_EQ(roster.size(), 9);
  EXPECT_EQ(roster.ranks[8].process, (bootstrap::Process{"node1", 108}));
  EXPECT_EQ(roster.ranks[3].contact.id, start.outcomes[3]->actor);
  EXPECT_EQ(ByteReader(roster.ranks[5].card).number<std::uint64_t>(), 5u);
}

TEST(Meeting, MissingRanksAreNamedInTimeAndAtTheDeadlineOnEveryRank) {
  World world(5);
  Start start(world, 64, MeetingPlace::launcher);
  const std::set<Rank> absent = {4, 23, 40};
  for (Rank rank = 0; rank < 64; ++rank)
    if (!absent.contains(rank)) start.begin(rank, 64);
  const Time begin = world.now();
  world.run_for(12500ms);
  for (const auto& outcome : start.outcomes)
    EXPECT_EQ(outcome->progress, (std::vector<std::string>(2, "waiting for 3 of 64 ranks: 4, 23, 40")));
  ASSERT_TRUE(world.run_until([&] { return start.all_ended(); }, after(begin, 61s)));
  for (const auto& outcome : start.outcomes) {
    EXPECT_EQ(outcome->status.code(), Code::timed_out);
    EXPECT_EQ(outcome->status.text(),
              "gave up after 60 s waiting for 3 of 64 ranks: 4, 23, 40; start them or raise TUTTI_START_TIMEOUT");
  }
}

TEST(Meeting, ManyMissingRanksAreCountedNotListed) {
  World world(6);
  Start start(world, 1000, MeetingPlace::rank_0);
  start.begin(0, 1000);
  world.run_for(3s);
  EXPECT_EQ(start.outcomes[0]->progress,
            std::vector<std::string>{"waiting for 999 of 1000 ranks: 1, 2, 3, 4, 5, 6, 7, 8 and 991 more"});
}

TEST(Meeting, AMeetingPointThatCannotBeReachedIsNamedWithItsAddressAndTheReason) {
  World world(7);
  Start start(world, 2, MeetingPlace::launcher);
  world.crash(start.meeting_actor());
  world.run_for(1ms);
  start.timeout = 5s;
  start.begin(1, 2);
  start.set_meeting({{5}, {"10.0.0.1:4000"}});
  start.begin(1, 2);
  ASSERT_TRUE(world.run_until([&] { return start.all_ended(); }, after(world.now(), 6s)));
  EXPECT_EQ(start.outcomes[0]->status.text(),
            "the meeting point at sim:0 could not be reached within 5 s (nobody listens at sim:0 any more); check that "
            "the process there runs and that this host can reach it");
  EXPECT_EQ(start.outcomes[1]->status.text(),
            "the meeting point at 10.0.0.1:4000 could not be reached within 5 s (no answer); check that the process "
            "there runs and that this host can reach it");
}

TEST(Meeting, AMeetingPointThatEndsIsNoticedWithoutWaitingForTheDeadline) {
  World world(8);
  Start start(world, 3, MeetingPlace::launcher);
  start.begin(1, 3);
  world.run_for(1s);
  world.crash(start.meeting_actor());
  ASSERT_TRUE(world.run_until([&] { return start.all_ended(); }, after(world.now(), 8s)));
  EXPECT_EQ(start.outcomes[0]->status.code(), Code::peer_lost);
}

struct Mistake {
  Rank rank;
  Rank size;
  const char* version;
  const char* text;
};

TEST(Meeting, AMistakeOfOneRankIsToldToAll) {
  const Mistake mistakes[] = {
      {9, 4, "1.0", "rank 9 (process 102 on node0) is not one of 4 ranks, which are 0 to 3"},
      {-7, 4, "1.0", "rank -7 (process 102 on node0) is not one of 4 ranks, which are 0 to 3"},
      {1, 4, "1.0",
       "rank 1 was started twice: as process 101 on node0 and as process 102 on node0; give every process a rank of "
       "its own"},
      {2, 8, "1.0",
       "rank 2 (process 102 on node0) was started with size 8, but rank 0 with size 4; start all ranks with the same "
       "size"},
      {2, 1 << 20, "1.0",
       "rank 2 (process 102 on node0) was started with size 1048576; there can be 1 to 131072 ranks"},
      {2, 4, "2.1",
       "rank 2 (process 102 on node0) has version 2.1, but the meeting point has version 1.0; start all ranks with the "
       "same version of the library"},
  };
  for (const Mistake& mistake : mistakes) {
    World world(9);
    Start start(world, 4, MeetingPlace::launcher);
    start.begin(0, 4);
    world.run_for(100ms);
    start.begin(1, 4);
    world.run_for(100ms);
    start.begin(mistake.rank, mistake.size, mistake.version);
    ASSERT_TRUE(world.run_until([&] { return start.all_ended(); }, after(world.now(), 4s))) << mistake.text;
    for (const auto& outcome : start.outcomes) {
      EXPECT_EQ(outcome->status.code(), Code::invalid_usage);
      EXPECT_EQ(outcome->status.text(), mistake.text);
    }
  }
}

// At a fixed address the next meeting begins when this one is over; until then they go on trying.
TEST(Meeting, WhoComesEarlyToTheNextMeetingIsNotRefused) {
  World world(10);
  Start start(world, 2, MeetingPlace::rank_0);
  const bootstrap::Meeting::Settings settings{.version = "1.0", .is_used_again = true};
  start.set_meeting(world.spawn(
      [&](tutti::World& its, const Contact&) { return std::make_unique<bootstrap::Meeting>(its, settings); }));
  start.begin_all();
  ASSERT_TRUE(world.run_until([&] { return start.all_ended(); }, after(world.now(), 4s)));
  EXPECT_EQ(fault_of(start, 1, 1), "");
  start.timeout = 10s;
  start.begin(1, 2);
  ASSERT_TRUE(world.run_until([&] { return start.all_ended(); }, after(world.now(), 20s)));
  EXPECT_EQ(start.outcomes[2]->status.code(), Code::timed_out) << start.outcomes[2]->status.text();
}

TEST(Meeting, WhoComesWhenAllAreThereIsRefusedAlone) {
  World world(10);
  Start start(world, 2, MeetingPlace::launcher);
  start.begin_all();
  ASSERT_TRUE(world.run_until([&] { return start.all_ended(); }, after(world.now(), 4s)));
  start.begin(1, 2);
  start.begin(kNoRank, 2);
  ASSERT_TRUE(world.run_until([&] { return start.all_ended(); }, after(world.now(), 4s)));
  EXPECT_EQ(fault_of(start, 1, 1), "");
  EXPECT_EQ(start.outcomes[2]->status.text(),
            "rank 1 was started twice: as process 101 on node0 and as process 102 on node0; give every process a rank "
            "of its own");
  EXPECT_EQ(
      start.outcomes[3]->status.text(),
      "process 103 on node0 came when all 2 ranks were there already; start as many processes as there are ranks");
}

TEST(Meeting, NewcomersGetTheLowestFreeRanksAndTheOthersKeepTheirs) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    World world(seed);
    Start start(world, 5, MeetingPlace::launcher);
    start.begin(kNoRank, 5);  // before those who have a rank
    start.begin(3, 5);
    world.run_for(50ms);
    start.begin(kNoRank, 0);
    start.begin(0, 5);
    start.begin(2, 5);
    ASSERT_TRUE(world.run_until([&] { return start.all_ended(); }, after(world.now(), 5s)));
    std::vector<Rank> ranks;
    for (const auto& outcome : start.outcomes) ranks.push_back(outcome->rank);
    EXPECT_EQ(ranks, (std::vector<Rank>{1, 3, 4, 0, 2}));
  }
}

// Hangs, cuts and slow ranks while they meet: everybody has the roster soon after the last of them.
std::string disturbed_start(std::uint64_t seed) {
  World world(seed);
  Random& random = world.random();
  const auto size = static_cast<Rank>(2 + random.below(random.below(4) == 0 ? 200 : 30));
  Start start(world, size, random.below(2) == 0 ? MeetingPlace::rank_0 : MeetingPlace::launcher);
  start.begin_all();
  const Time begin = world.now();
  Time last = begin;
  for (auto count = random.below(6); count > 0; --count) {
    const Time time = after(begin, std::chrono::milliseconds(random.below(random.below(2) == 0 ? 20 : 6000)));
    const Time until = after(time, std::chrono::milliseconds(random.below(5000)));
    const ActorId actor = start.outcomes[random.below(start.outcomes.size())]->actor;
    last = std::max(last, until);
    if (random.below(2) == 0) {
      world.at(time, [&world, actor] { world.hang(actor); });
      world.at(until, [&world, actor] { world.resume(actor); });
      continue;
    }
    std::vector<ActorId> one, others;
    for (const auto& outcome : start.outcomes) (random.below(3) == 0 ? one : others).push_back(outcome->actor);
    const bool is_both_ways = random.below(2) == 0;
    world.at(time, [&world, one, others, is_both_ways] {
      world.cut(one, others);
      if (is_both_ways) world.cut(others, one);
    });
    world.at(until, [&world] { world.heal(); });
  }
  world.slow_down(start.outcomes[random.below(start.outcomes.size())]->actor, 10);
  if (!world.run_until([&] { return start.all_ended(); }, after(last, 12s)))
    return fmt::format("not everybody has the roster 12 s after the last disturbance, of {} ranks", size);
  for (Rank rank = 0; rank < size; ++rank)
    if (auto fault = fault_of(start, static_cast<std::size_t>(rank), rank); !fault.empty()) return fault;
  return {};
}

TEST(Meeting, EverybodyGetsTheRosterAfterDisturbances) {
  EXPECT_EQ(run_seeds("bin/sim_test", "Meeting.EverybodyGetsTheRosterAfterDisturbances", kSeeds, disturbed_start), "");
}

// Ranks that die while they meet: the others have the roster or a sentence, never nothing.
std::string deadly_start(std::uint64_t seed) {
  World world(seed);
  Random& random = world.random();
  const auto size = static_cast<Rank>(2 + random.below(40));
  Start start(world, size, random.below(2) == 0 ? MeetingPlace::rank_0 : MeetingPlace::launcher);
  start.timeout = 20s;
  start.begin_all();
  std::set<ActorId> dying;
  for (auto count = 1 + random.below(3); count > 0; --count) {
    const ActorId actor = start.outcomes[random.below(start.outcomes.size())]->actor;
    dying.insert(actor);
    world.at(after(world.now(), std::chrono::milliseconds(random.below(30))), [&world, actor] { world.crash(actor); });
  }
  world.run_for(21s);
  std::optional<std::uint64_t> digest;
  for (Rank rank = 0; rank < size; ++rank) {
    const auto& outcome = *start.outcomes[static_cast<std::size_t>(rank)];
    if (dying.contains(outcome.actor)) continue;
    if (outcome.ends != 1) return fmt::format("rank {} ended {} times", rank, outcome.ends);
    if (!outcome.status && outcome.status.text().empty()) return "no sentence";
    if (!outcome.status) continue;
    if (digest && *digest != outcome.roster_digest) return "two rosters";
    digest = outcome.roster_digest;
  }
  return {};
}

TEST(Meeting, DeathsWhileMeetingLeaveNobodyWithoutAnEnd) {
  EXPECT_EQ(run_seeds("bin/sim_test", "Meeting.DeathsWhileMeetingLeaveNobodyWithoutAnEnd", kSeeds, deadly_start), "");
}

TEST(SimWorld, TheSameSeedGivesTheSameTrace) {
  const auto trace_of = [](std::uint64_t seed) {
    World world(seed);
    Start start(world, 50, MeetingPlace::rank_0);
    start.begin_all();
    world.run_for(3s);
    return world.trace();
  };
  EXPECT_EQ(trace_of(1), trace_of(1));
  EXPECT_NE(trace_of(1), trace_of(2));
}

}  // namespace
}  // namespace tutti::sim

#include "bootstrap/membership/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/crew_for_test.h"
#include "sim/seeds.h"

namespace tutti::sim {
namespace {

using namespace std::chrono_literals;

#ifdef TUTTI_HAS_SANITIZER
constexpr int kSeeds = 100;
#else
constexpr int kSeeds = 2000;
#endif

void shrink_all(Crew& crew, std::chrono::nanoseconds timeout = 5s) {
  for (Rank rank = 0; rank < crew.size(); ++rank)
    if (crew.lives(rank)) crew[rank].shrink(Deadline::after(crew.world.now(), timeout));
}

std::vector<ActorId> ids(Crew& crew, const std::vector<Rank>& ranks) {
  std::vector<ActorId> ids;
  for (const Rank rank : ranks) ids.push_back(crew.id(rank));
  return ids;
}

TEST(Shrink, SurvivorsGoOnInTheOrderOfTheirOldRanks) {
  World world(1);
  Crew crew(world, 5);
  world.run_for(1s);
  crew.crash(0);
  crew.crash(3);
  world.run_for(500ms);
  shrink_all(crew);
  world.run_for(1s);
  Rank expected = 0;
  for (const Rank rank : {1, 2, 4}) {
    ASSERT_EQ(crew[rank].shrunk.size(), 1u);
    const auto& shrunk = crew[rank].shrunk[0];
    ASSERT_TRUE(shrunk.status) << shrunk.status.text();
    EXPECT_EQ(shrunk.epoch, 2u);
    EXPECT_EQ(shrunk.rank, expected++);
    EXPECT_EQ(shrunk.roster, ids(crew, {1, 2, 4}));
    EXPECT_EQ(crew[rank].member->rank(), shrunk.rank);
  }
}

TEST(Shrink, AfterwardsTheNewRanksWatchEachOther) {
  World world(2);
  Crew crew(world, 6);
  world.run_for(1s);
  crew.crash(1);
  world.run_for(500ms);
  shrink_all(crew);
  world.run_for(2s);
  crew.crash(4);  // rank 3 now
  world.run_for(1s);
  for (const Rank rank : {0, 2, 3, 5}) {
    ASSERT_EQ(crew[rank].told.size(), 2u);
    EXPECT_EQ(crew[rank].told[1].departure.rank, 3);
  }
  shrink_all(crew);
  world.run_for(2s);
  for (const Rank rank : {0, 2, 3, 5}) {
    ASSERT_EQ(crew[rank].shrunk.size(), 2u);
    EXPECT_EQ(crew[rank].shrunk[1].epoch, 3u);
    EXPECT_EQ(crew[rank].shrunk[1].roster, ids(crew, {0, 2, 3, 5}));
  }
}

TEST(Shrink, TheLastSurvivorGoesOnAlone) {
  World world(3);
  Crew crew(world, 3);
  world.run_for(1s);
  crew.crash(0);
  crew.crash(1);
  world.run_for(500ms);
  shrink_all(crew);
  world.run_for(1s);
  ASSERT_EQ(crew[2].shrunk.size(), 1u);
  EXPECT_EQ(crew[2].shrunk[0].roster, ids(crew, {2}));
}

TEST(Shrink, WhoLivesAndDoesNotCallIsNamedOnEveryRank) {
  World world(4);
  Crew crew(world, 6);
  world.run_for(1s);
  for (const Rank rank : {0, 1, 3, 5}) crew[rank].shrink(Deadline::after(world.now(), 5s));
  world.run_for(6s);
  for (const Rank rank : {0, 1, 3, 5}) {
    ASSERT_EQ(crew[rank].shrunk.size(), 1u);
    EXPECT_EQ(crew[rank].shrunk[0].status.code(), Code::timed_out);
    EXPECT_EQ(crew[rank].shrunk[0].status.text(),
              "shrink waited 5 s for ranks 2 and 4 of 6, which live but have not called it; call shrink on every rank "
              "that is to go on");
  }
}

TEST(Shrink, WaitsForThoseWhoCallLater) {
  World world(5);
  Crew crew(world, 4);
  world.run_for(1s);
  for (const Rank rank : {1, 2}) crew[rank].shrink(Deadline::after(world.now(), 5s));
  world.run_for(3s);
  crew[0].shrink(Deadline::after(world.now(), 5s));
  crew[3].shrink(Deadline::after(world.now(), 5s));
  world.run_for(1s);
  for (Rank rank = 0; rank < 4; ++rank) {
    ASSERT_EQ(crew[rank].shrunk.size(), 1u);
    EXPECT_EQ(crew[rank].shrunk[0].roster.size(), 4u);
  }
}

TEST(Shrink, TheMajorityGoesOnAndTheOthersAreToldThatTheyAreCutOff) {
  World world(6);
  Crew crew(world, 5);
  world.run_for(1s);
  crew.separate(ids(crew, {0, 1}), ids(crew, {2, 3, 4}));
  shrink_all(crew);
  world.run_for(6s);
  for (const Rank rank : {2, 3, 4}) {
    ASSERT_EQ(crew[rank].shrunk.size(), 1u);
    EXPECT_EQ(crew[rank].shrunk[0].roster, ids(crew, {2, 3, 4}));
  }
  for (const Rank rank : {0, 1}) {
    ASSERT_EQ(crew[rank].shrunk.size(), 1u);
    EXPECT_EQ(crew[rank].shrunk[0].status.code(), Code::network);
    EXPECT_EQ(crew[rank].shrunk[0].status.text(),
              fmt::format("rank {} (process {} on node0) is cut off from the majority: ranks 2, 3 and 4 of 5 could not "
                          "be reached within 5 s; end this process, the others go on without it",
                          rank, 100 + rank));
  }
}

TEST(Shrink, OfTwoHalvesTheOneWithRankZeroGoesOn) {
  World world(7);
  Crew crew(world, 8);
  world.run_for(1s);
  crew.separate(ids(crew, {0, 1, 2, 3}), ids(crew, {4, 5, 6, 7}));
  world.run_for(11s);
  shrink_all(crew);
  world.run_for(6s);
  for (Rank rank = 0; rank < 8; ++rank) {
    ASSERT_EQ(crew[rank].shrunk.size(), 1u);
    EXPECT_EQ(crew[rank].shrunk[0].status.is_ok(), rank < 4) << crew[rank].shrunk[0].status.text();
  }
}

TEST(Shrink, AStoppedRankIsLeftOutAndToldSoWhenItContinues) {
  World world(8);
  Crew crew(world, 5);
  world.run_for(1s);
  world.hang(crew.id(0));
  world.run_for(12s);
  for (Rank rank = 1; rank < 5; ++rank) crew[rank].shrink(Deadline::after(world.now(), 5s));
  world.run_for(5s);
  for (Rank rank = 1; rank < 5; ++rank) {
    ASSERT_EQ(crew[rank].shrunk.size(), 1u);
    EXPECT_EQ(crew[rank].shrunk[0].roster, ids(crew, {1, 2, 3, 4}));
  }
  world.resume(crew.id(0));
  world.run_for(3s);
  ASSERT_FALSE(crew[0].told.empty());
  EXPECT_EQ(crew[0].told.back().departure.sentence,
            "rank 0 (process 100 on node0) was left out: ranks 1, 2, 3 and 4 of 5 could not reach it and went on "
            "without it; end this process");
}

TEST(Shrink, CoordinatorsThatDieOneAfterTheOtherDoNotStopTheOthers) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    World world(seed);
    Crew crew(world, 7);
    world.run_for(1s);
    shrink_all(crew, 10s);
    for (Rank rank = 0; rank < 4; ++rank) {
      world.run_for(std::chrono::microseconds(world.random().below(8000)));
      crew.crash(rank);
    }
    const Deadline deadline = Deadline::after(world.now(), 5s);
    for (Rank rank = 4; rank < 7; ++rank) crew[rank].shrinks_until = deadline;
    world.run_for(5s);
    for (Rank rank = 4; rank < 7; ++rank) {
      ASSERT_FALSE(crew[rank].shrunk.empty()) << seed;
      EXPECT_EQ(crew[rank].shrunk.back().roster, ids(crew, {4, 5, 6})) << seed;
    }
  }
}

TEST(Shrink, ManyRanksAgreeQuickly) {
  World world(9);
  Crew crew(world, 300);
  world.run_for(1s);
  for (Rank rank = 10; rank < 50; ++rank) crew.crash(rank);
  world.run_for(500ms);
  shrink_all(crew);
  world.run_for(1s);
  for (Rank rank = 0; rank < 300; ++rank) {
    if (!crew.lives(rank)) continue;
    ASSERT_EQ(crew[rank].shrunk.size(), 1u);
    EXPECT_EQ(crew[rank].shrunk[0].roster.size(), 260u);
  }
}

TEST(Shrink, ACircleShrinksAgainAndAgainWhileTheOthersGoOn) {
  World world(10);
  Crew crew(world, 8);
  crew.make_circle(7, {1, 2, 4, 5, 7});
  world.run_for(1s);
  for (const Rank victim : {2, 7}) {
    crew.crash(victim);
    world.run_for(500ms);
    for (const Rank rank : {1, 4, 5}) crew[rank].shrink(Deadline::after(world.now(), 5s));
    if (victim == 2) crew[7].shrink(Deadline::after(world.now(), 5s));
    world.run_for(1s);
  }
  Rank expected = 0;
  for (const Rank rank : {1, 4, 5}) {
    ASSERT_EQ(crew[rank].shrunk.size(), 2u);
    EXPECT_EQ(crew[rank].shrunk[0].roster, ids(crew, {1, 4, 5, 7}));
    EXPECT_EQ(crew[rank].shrunk[1].roster, ids(crew, {1, 4, 5}));
    EXPECT_EQ(crew[rank].shrunk[1].epoch, 3u);
    EXPECT_EQ(crew[rank].shrunk[1].rank, expected++);
    EXPECT_EQ(crew[rank].member->roster().size(), 8) << "the job has not shrunk";
  }
  EXPECT_TRUE(crew[0].shrunk.empty());
}

TEST(Shrink, ACircleShrinksAfterTheJobHas) {
  World world(11);
  Crew crew(world, 6);
  world.run_for(1s);
  crew.crash(2);
  world.run_for(500ms);
  shrink_all(crew);
  world.run_for(1s);
  crew.make_circle(7, {1, 2, 4, 5});  // made before rank 2 died, as it were
  crew.crash(5);
  world.run_for(500ms);
  for (const Rank rank : {1, 4}) crew[rank].shrink(Deadline::after(world.now(), 5s));
  world.run_for(2s);
  for (const Rank rank : {1, 4}) {
    ASSERT_EQ(crew[rank].shrunk.size(), 2u);
    ASSERT_TRUE(crew[rank].shrunk[1].status) << crew[rank].shrunk[1].status.text();
    EXPECT_EQ(crew[rank].shrunk[1].roster, ids(crew, {1, 4}));
  }
}

TEST(Shrink, WhoOfACircleLivesAndDoesNotCallIsWaitedForAndNamed) {
  World world(12);
  Crew crew(world, 6);
  crew.make_circle(7, {0, 3, 4, 5});
  world.run_for(1s);
  crew.crash(4);
  for (const Rank rank : {0, 5}) crew[rank].shrink(Deadline::after(world.now(), 5s));
  world.run_for(6s);
  for (const Rank rank : {0, 5}) {
    ASSERT_EQ(crew[rank].shrunk.size(), 1u);
    EXPECT_EQ(crew[rank].shrunk[0].status.text(),
              "shrink waited 5 s for rank 1 of 4, which lives but has not called it; call shrink on every rank that is "
              "to go on");
  }
}

TEST(MayDecide, SetsThatMayDecideShareALivingRank) {
  constexpr Rank kSize = 5;
  const auto set_of = [](unsigned bits) {
    std::set<Rank> set;
    for (Rank rank = 0; rank < kSize; ++rank)
      if ((bits >> rank & 1) != 0) set.insert(rank);
    return set;
  };
  for (unsigned ended = 0; ended < 1u << kSize; ++ended)
    for (unsigned one = 0; one < 1u << kSize; ++one)
      for (unsigned other = 0; other < 1u << kSize; ++other) {
        // Both knew of some of the dead; whoever decides may have died since.
        const bool is_first = bootstrap::may_decide(set_of(one), kSize, set_of(ended));
        const bool is_second = bootstrap::may_decide(set_of(other), kSize, set_of(0));
        const bool is_dangerous = is_first && is_second && (one & other) == 0 && (other & ~ended) != 0;
        EXPECT_FALSE(is_dangerous) << one << " " << other << " " << ended;
      }
}

// Slow networks every other time: what happens between two messages then happens often.
Nature nature_of(std::uint64_t seed) {
  Nature nature;
  if (seed % 2 == 0) nature.latency.most = 60ms;
  return nature;
}

// One job with random disturbances while all ranks shrink.
class Trial {
 public:
  enum class Who : std::uint8_t { all, circle };

  explicit Trial(std::uint64_t seed, Who who = Who::all)
      : is_slow_(seed % 2 == 0),
        world_(seed, nature_of(seed)),
        random_(world_.random()),
        crew_(world_, static_cast<Rank>(2 + random_.below(16))),
        who_(who) {
    for (Rank rank = 0; rank < crew_.size(); ++rank)
      if (who == Who::all || random_.below(2) == 0) members_.push_back(rank);
    if (who == Who::circle) crew_.make_circle(7, members_);
  }

  std::string run() {
    world_.run_for(std::chrono::milliseconds(300 + random_.below(1500)));
    last_ = world_.now();
    for (auto count = random_.below(5); count > 0; --count) disturb();
    const Deadline deadline{after(last_, 5s)};
    const std::uint64_t spread_ms = random_.below(2) == 0 ? 5 : 400;
    for (const Rank rank : members_) begin_shrink(rank, deadline, spread_ms);
    world_.run_until([] { return false; }, after(deadline.at, 50ms));
    std::string fault = judge_rosters();
    if (!fault.empty()) return fault;
    world_.run_for(4s);  // who went on and is left out by a later decision hears it with the next signs of life
    return judge_last();
  }

 private:
  Rank any_rank() { return static_cast<Rank>(random_.below(static_cast<std::uint64_t>(crew_.size()))); }
  Time soon(std::uint64_t ms) { return after(world_.now(), std::chrono::microseconds(random_.below(ms * 1000))); }

  void disturb() {
    const Time time = soon(random_.below(3) == 0 ? 3000 : random_.below(2) == 0 ? 60 : 500);
    const Time until = after(time, std::chrono::milliseconds(random_.below(4000)));
    last_ = std::max(last_, time);
    const Rank rank = any_rank();
    switch (random_.below(4)) {
      case 0: return is_slow_ ? world_.slow_down(crew_.id(rank), 2) : world_.slow_down(crew_.id(rank), 5);
      case 1:
        has_hung_ = true;
        last_ = std::max(last_, until);
        world_.at(time, [this, rank] { world_.hang(crew_.id(rank)); });
        return world_.at(until, [this, rank] { world_.resume(crew_.id(rank)); });
      case 2: return cut(time, until);
      default:
        died_.try_emplace(rank, time);
        died_[rank] = std::min(died_[rank], time);
        return world_.at(time, [this, rank] { crew_.crash(rank); });
    }
  }
  void cut(Time time, Time until) {
    std::vector<ActorId> one, others;
    // Often only one, and mostly one that is likely to coordinate.
    const bool is_single = random_.below(2) == 0;
    const Rank single = random_.below(2) == 0 ? 0 : any_rank();
    for (Rank rank = 0; rank < crew_.size(); ++rank)
      (is_single ? rank == single : random_.below(3) == 0) ? one.push_back(crew_.id(rank))
                                                           : others.push_back(crew_.id(rank));
    has_cut_ = true;
    const bool is_both_ways = random_.below(3) != 0;
    world_.at(time, [this, one, others, is_both_ways] {
      world_.cut(one, others);
      if (is_both_ways) world_.cut(others, one);
    });
    if (random_.below(4) == 0) {
      is_cut_for_good_ = true;
      return;
    }
    last_ = std::max(last_, until);
    world_.at(until, [this] { world_.heal(); });
  }
  void begin_shrink(Rank rank, Deadline deadline, std::uint64_t spread_ms) {
    const Time time = soon(spread_ms);
    world_.at(time, [this, rank, deadline, spread_ms] {
      if (!crew_.lives(rank)) return;
      if (world_.is_hung(crew_.id(rank))) return begin_shrink(rank, deadline, spread_ms);
      crew_[rank].shrinks_until = deadline;
      crew_[rank].shrink(deadline);
    });
  }

  // Whether somebody has another roster for the same epoch. Nobody meets whoever had died before.
  bool has_another(Rank rank, const Crew::Shrunk& one) {
    for (const Rank other : members_)
      for (const auto& with : crew_[other].shrunk) {
        if (!with.status || with.epoch != one.epoch || with.roster == one.roster) continue;
        const bool was_before = died_.contains(rank) && died_[rank] <= with.time;
        const bool was_after = died_.contains(other) && died_[other] <= one.time;
        if (!was_before && !was_after) return true;
      }
    return false;
  }
  std::string judge_rosters() {
    for (const Rank rank : members_) {
      const auto& shrunk = crew_[rank].shrunk;
      for (const auto& one : shrunk) {
        if (!one.status && one.status.text().empty()) return fmt::format("rank {}: no sentence", rank);
        if (!one.status) continue;
        if (has_another(rank, one)) return fmt::format("two rosters for epoch {}", one.epoch);
        if (crew_.lives(rank)) installed_[one.epoch] = one.roster;
        if (one.roster.at(static_cast<std::size_t>(one.rank)) != crew_.id(rank)) return "not itself in its roster";
      }
      if (!crew_.lives(rank)) continue;
      if (shrunk.empty() || crew_[rank].is_shrinking) return fmt::format("rank {} of {} hangs", rank, crew_.size());
      if (shrunk.back().status) ++gone_on_;
      if (!shrunk.back().status && !has_cut_ && !has_hung_)
        return fmt::format("rank {} of {}: {}", rank, crew_.size(), shrunk.back().status.text());
    }
    return {};
  }
  bool was_put_out(Rank rank) {
    return std::ranges::any_of(crew_[rank].told, [](const auto& told) {
      return told.departure.sentence.find("was left out") != std::string::npos;
    });
  }
  // By some that went on without them and have died since.
  bool were_all_left_out() {
    for (const Rank rank : members_)
      if (crew_.lives(rank) && crew_[rank].shrunk.back().status.code() != Code::aborted) return false;
    return true;
  }
  std::string judge_last() {
    std::size_t living = 0;
    for (const Rank rank : members_) living += crew_.lives(rank) ? 1 : 0;
    if (living == 0 || is_cut_for_good_) return {};
    if (gone_on_ == 0) return were_all_left_out() ? "" : fmt::format("none of {} ranks goes on", living);
    const std::uint64_t epoch = installed_.rbegin()->first;
    const auto& roster = installed_.rbegin()->second;
    for (const ActorId actor : roster)
      if (!world_.lives(actor)) return fmt::format("the last roster, of epoch {}, holds a dead rank", epoch);
    for (const Rank rank : members_) {
      if (!crew_.lives(rank)) continue;
      const bool is_in = std::ranges::count(roster, crew_.id(rank)) == 1;
      const auto& last = crew_[rank].shrunk.back();
      // It may have asked again since, because of somebody who was taken for silent and did not ask.
      const auto is_last = [&](const Crew::Shrunk& shrunk) { return shrunk.status && shrunk.epoch == epoch; };
      if (is_in && std::ranges::none_of(crew_[rank].shrunk, is_last))
        return fmt::format("rank {} does not know that it is in", rank);
      // One that a circle leaves out learns it when it asks.
      if (!is_in && last.status && who_ == Who::all && !was_put_out(rank))
        return fmt::format("rank {} does not know that it is out", rank);
    }
    return {};
  }

  bool is_slow_;  // the whole network is
  World world_;
  Random& random_;
  Crew crew_;
  Who who_;
  std::vector<Rank> members_;  // who shrinks
  Time last_;
  std::map<std::uint64_t, std::vector<ActorId>> installed_;
  std::map<Rank, Time> died_;
  std::size_t gone_on_ = 0;
  bool has_cut_ = false;
  bool has_hung_ = false;
  bool is_cut_for_good_ = false;
};

TEST(Shrink, SurvivorsAgreeWithinFiveSecondsOfTheLastDisturbance) {
  EXPECT_EQ(run_seeds("bin/sim_test", "Shrink.SurvivorsAgreeWithinFiveSecondsOfTheLastDisturbance", kSeeds,
                      [](std::uint64_t seed) { return Trial(seed).run(); }),
            "");
}

TEST(Shrink, SurvivorsOfACircleAgreeAsSoonWhileTheOthersGoOn) {
  EXPECT_EQ(run_seeds("bin/sim_test", "Shrink.SurvivorsOfACircleAgreeAsSoonWhileTheOthersGoOn", kSeeds,
                      [](std::uint64_t seed) { return Trial(seed, Trial::Who::circle).run(); }),
            "");
}

}  // namespace
}  // namespace tutti::sim

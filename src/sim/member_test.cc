#include "bootstrap/membership/member.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "sim/crew_for_test.h"
#include "sim/seeds.h"

namespace tutti::sim {
namespace {

using namespace std::chrono_literals;
using bootstrap::GoneKind;

#ifdef TUTTI_HAS_SANITIZER
constexpr Rank kManyRanks = 64;
constexpr int kSeeds = 10;
#else
constexpr Rank kManyRanks = 512;
constexpr int kSeeds = 150;
#endif

double seconds(Time from, Time to) { return (static_cast<double>(to.ns) - static_cast<double>(from.ns)) * 1e-9; }

const Crew::Told* told_of(Crew& crew, Rank rank, Rank about, GoneKind kind) {
  for (const auto& told : crew[rank].told)
    if (told.departure.rank == about && told.departure.kind == kind) return &told;
  return nullptr;
}

TEST(Member, WithoutDisturbanceNobodyIsAccusedAndConnectionsStayFew) {
  World world(1);
  Crew crew(world, kManyRanks);
  world.run_for(30s);
  const auto neighbours = static_cast<std::size_t>(2 * std::bit_width(static_cast<unsigned>(kManyRanks)) - 3);
  for (Rank rank = 0; rank < crew.size(); ++rank) {
    EXPECT_TRUE(crew[rank].told.empty());
    const Traffic traffic = world.traffic(crew.id(rank));
    EXPECT_LE(traffic.connections_max, neighbours);
    EXPECT_LE(traffic.messages_sent, neighbours * 32);
  }
}

TEST(Member, ADeathIsASentenceThatNamesRankProcessHostAndWitness) {
  World world(2);
  Crew crew(world, 2);
  world.run_for(1s);
  crew.crash(1);
  world.run_for(1s);
  ASSERT_EQ(crew[0].told.size(), 1u);
  EXPECT_EQ(crew[0].told[0].departure.sentence,
            "rank 1 (process 101 on node0) has died: rank 0 says that nobody listens at sim:1 any more");
  EXPECT_EQ(crew[0].told[0].departure.by, 0);
}

// Ranks die at random moments; everybody who lives knows each death within a second.
std::string deaths(std::uint64_t seed) {
  World world(seed);
  Random& random = world.random();
  const auto size = static_cast<Rank>(2 + random.below(random.below(10) == 0 ? 100 : 20));
  Crew crew(world, size);
  std::map<Rank, Time> died;
  for (auto count = 1 + random.below(static_cast<std::uint64_t>(size)); count > 0; --count) {
    const auto rank = static_cast<Rank>(random.below(static_cast<std::uint64_t>(size)));
    const Time time = after(world.now(), std::chrono::milliseconds(500 + random.below(3000)));
    if (died.try_emplace(rank, time).second) world.at(time, [&crew, rank] { crew.crash(rank); });
  }
  world.run_for(5s);
  for (Rank rank = 0; rank < size; ++rank) {
    if (!crew.lives(rank)) continue;
    if (crew[rank].told.size() != died.size())
      return fmt::format("rank {} of {} heard of {} deaths of {}", rank, size, crew[rank].told.size(), died.size());
    for (const auto& [dead, time] : died) {
      const auto* told = told_of(crew, rank, dead, GoneKind::dead);
      if (told == nullptr) return fmt::format("rank {} does not know that {} died", rank, dead);
      if (seconds(time, told->time) > 1) return fmt::format("rank {} heard of {} late", rank, dead);
    }
  }
  return {};
}

TEST(Member, DeathsAreKnownToAllWithinASecond) {
  EXPECT_EQ(run_seeds("bin/sim_test", "Member.DeathsAreKnownToAllWithinASecond", kSeeds, deaths), "");
}

TEST(Member, OneDeathAmongManyIsKnownToAllWithinASecond) {
  World world(3);
  Crew crew(world, kManyRanks);
  world.run_for(2s);
  crew.crash(kManyRanks / 3);
  world.run_for(1s);
  for (Rank rank = 0; rank < crew.size(); ++rank) EXPECT_EQ(crew[rank].told.size(), crew.lives(rank) ? 1u : 0u) << rank;
}

// A stopped process or a host without network: known everywhere two seconds after the silence that is allowed.
std::string silences(std::uint64_t seed) {
  World world(seed);
  Random& random = world.random();
  const auto size = static_cast<Rank>(3 + random.below(30));
  Crew crew(world, size);
  world.run_for(std::chrono::milliseconds(500 + random.below(2000)));
  const auto quiet = static_cast<Rank>(random.below(static_cast<std::uint64_t>(size)));
  const Time begin = world.now();
  std::vector<ActorId> others;
  for (Rank rank = 0; rank < size; ++rank)
    if (rank != quiet) others.push_back(crew.id(rank));
  const bool is_hung = random.below(2) == 0;
  if (is_hung)
    world.hang(crew.id(quiet));
  else
    crew.separate({crew.id(quiet)}, others);
  world.run_for(12s);
  for (Rank rank = 0; rank < size; ++rank) {
    if (rank == quiet) continue;
    const auto* told = told_of(crew, rank, quiet, GoneKind::silent);
    if (told == nullptr) return fmt::format("rank {} does not know that {} is silent", rank, quiet);
    if (seconds(begin, told->time) < 8.5) return fmt::format("rank {} is too early", rank);
    if (crew[rank].told.size() != 1) return fmt::format("rank {} accuses others too", rank);
  }
  if (!is_hung) return {};
  world.resume(crew.id(quiet));
  world.run_for(15s);
  for (const auto& told : crew[quiet].told)
    if (told.departure.rank != quiet) return "who was stopped accuses those who were not";
  return {};
}

TEST(Member, SilenceIsKnownToAllTwoSecondsAfterItsLimit) {
  EXPECT_EQ(run_seeds("bin/sim_test", "Member.SilenceIsKnownToAllTwoSecondsAfterItsLimit", kSeeds, silences), "");
}

TEST(Member, AShortCutAccusesNobody) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    World world(seed);
    Crew crew(world, 12);
    world.run_for(1s);
    crew.separate({crew.id(0), crew.id(1), crew.id(2)}, {crew.id(3), crew.id(4), crew.id(5), crew.id(6), crew.id(7)});
    world.run_for(4s);
    world.heal();
    world.run_for(20s);
    for (Rank rank = 0; rank < 12; ++rank) EXPECT_TRUE(crew[rank].told.empty()) << seed;
  }
}

// What an owner tells everybody arrives once, though links break, ranks die and others are cut off for a while.
std::string floods(std::uint64_t seed) {
  World world(seed);
  Random& random = world.random();
  const auto size = static_cast<Rank>(2 + random.below(40));
  Crew crew(world, size);
  world.run_for(1s);
  std::vector<ActorId> one, others;
  for (Rank rank = 0; rank < size; ++rank) (random.below(3) == 0 ? one : others).push_back(crew.id(rank));
  if (random.below(2) == 0) world.cut(one, others);
  const auto origin = static_cast<Rank>(random.below(static_cast<std::uint64_t>(size)));
  const auto dying = static_cast<Rank>(random.below(static_cast<std::uint64_t>(size)));
  if (dying != origin) crew.crash(dying);
  world.run_for(std::chrono::milliseconds(random.below(300)));
  for (const char* text : {"a", "b", "c"})
    if (!crew[origin].member->flood(bytes_of(text))) return "refused";
  world.run_for(3s);
  world.heal();
  world.run_for(6s);
  const std::vector<std::pair<Rank, std::string>> expected = {{origin, "a"}, {origin, "b"}, {origin, "c"}};
  for (Rank rank = 0; rank < size; ++rank) {
    if (rank == origin || !crew.lives(rank)) continue;
    std::ranges::sort(crew[rank].notices);
    if (crew[rank].notices != expected)
      return fmt::format("rank {} of {} heard {} notices", rank, size, crew[rank].notices.size());
  }
  return {};
}

TEST(Member, NoticesReachEverybodyOnceDespiteCutsAndDeaths) {
  EXPECT_EQ(run_seeds("bin/sim_test", "Member.NoticesReachEverybodyOnceDespiteCutsAndDeaths", kSeeds, floods), "");
}

TEST(Member, ANoticeThatIsTooLongIsRefused) {
  World world(4);
  Crew crew(world, 2);
  EXPECT_EQ(crew[0].member->flood(Bytes(bootstrap::kNoticeBytesMax + 1)).code(), Code::invalid_argument);
}

struct Answers {
  std::vector<Result<Bytes>> all;
  bootstrap::Member::AnswerSink sink() {
    return [this](Result<Bytes> answer) { all.push_back(std::move(answer)); };
  }
};

TEST(Member, QuestionsAreAnsweredByTheOwnerAndTheConnectionGoesWhenIdle) {
  World world(5);
  Crew crew(world, 64);
  world.run_for(2s);
  const std::size_t before = world.traffic(crew.id(0)).connections;
  Answers answers;
  crew[0].member->ask(21, bytes_of("what are you doing?"), Deadline::after(world.now(), 2s), answers.sink());
  world.run_for(1s);
  ASSERT_EQ(answers.all.size(), 1u);
  ASSERT_TRUE(answers.all[0]);
  EXPECT_EQ(text_of(*answers.all[0]), "0 asks 21: what are you doing?");
  EXPECT_EQ(world.traffic(crew.id(0)).connections, before + 1);
  world.run_for(12s);
  EXPECT_EQ(world.traffic(crew.id(0)).connections, before);
}

TEST(Member, AStoppedRankDoesNotAnswerAndThatIsSaid) {
  World world(6);
  Crew crew(world, 64);
  world.run_for(2s);
  world.hang(crew.id(21));
  Answers answers;
  crew[0].member->ask(21, bytes_of("?"), Deadline::after(world.now(), 2s), answers.sink());
  world.run_for(3s);
  ASSERT_EQ(answers.all.size(), 1u);
  EXPECT_EQ(answers.all[0].status().code(), Code::timed_out);
  EXPECT_EQ(answers.all[0].status().text(),
            "rank 21 (process 121 on node2) did not answer within 2 s; its process is stopped or busy, or its host is "
            "cut off");
}

TEST(Member, QuestionsToTheDeadAndToNobodyFailWithASentence) {
  World world(7);
  Crew crew(world, 4);
  world.run_for(2s);
  Answers answers;
  crew[0].member->ask(7, bytes_of("?"), Deadline::after(world.now(), 2s), answers.sink());
  crew.crash(2);
  crew[0].member->ask(2, bytes_of("?"), Deadline::after(world.now(), 2s), answers.sink());
  world.run_for(1s);
  crew[0].member->ask(2, bytes_of("?"), Deadline::after(world.now(), 2s), answers.sink());
  world.run_for(1s);
  ASSERT_EQ(answers.all.size(), 3u);
  EXPECT_EQ(answers.all[0].status().code(), Code::invalid_argument);
  EXPECT_EQ(answers.all[1].status().code(), Code::peer_lost);
  EXPECT_EQ(answers.all[2].status().code(), Code::peer_lost);
}

TEST(Member, AQuestionSurvivesALostConnection) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    World world(seed);
    Crew crew(world, 4);
    world.run_for(1s);
    crew.separate({crew.id(0)}, {crew.id(2)});
    Answers answers;
    crew[0].member->ask(2, bytes_of("?"), Deadline::after(world.now(), 8s), answers.sink());
    world.run_for(500ms);
    world.heal();
    world.run_for(6s);
    ASSERT_EQ(answers.all.size(), 1u);
    EXPECT_TRUE(answers.all[0]) << seed;
  }
}

TEST(Member, WhoLeavesIsNotTakenForDead) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    World world(seed);
    Crew crew(world, 20);
    world.run_for(1s);
    crew[7].member->leave();
    world.run_for(1ms);
    crew.crash(7);
    world.run_for(12s);
    for (Rank rank = 0; rank < 20; ++rank) {
      if (rank == 7) continue;
      ASSERT_EQ(crew[rank].told.size(), 1u);
      EXPECT_EQ(crew[rank].told[0].departure.sentence, "rank 7 (process 107 on node0) has left");
    }
  }
}

}  // namespace
}  // namespace tutti::sim

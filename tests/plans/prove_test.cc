// Every algorithm in every shape, proved by the checker and run by the interpreter.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "plan/interpret/interpreter.h"
#include "tests/plans/expected.h"
#include "tests/plans/seed.h"
#include "tutti/prove.h"

namespace tutti::plan {
namespace {

#ifdef TUTTI_HAS_SANITIZER  // an instrumented build is many times slower and proves nothing more
constexpr Rank kRanksProved = 7;
constexpr int kSamples = 12;
const std::vector<Rank> kRanksRun = {1, 3, 5};
#else
constexpr Rank kRanksProved = 16;
constexpr int kSamples = 60;
const std::vector<Rank> kRanksRun = {1, 2, 3, 5, 8};
#endif

TEST(Plans, AreProvedForOneToSixteenRanksEveryRootAndOneToFourLanes) {
  std::uint64_t proved = 0;
  for (Rank ranks = 1; ranks <= kRanksProved; ++ranks) {
    for (std::uint32_t lanes = 1; lanes <= 4; ++lanes) {
      for_each_case(ranks, lanes, [&](const Case& proof) {
        const auto fault = prove(proof);
        EXPECT_FALSE(fault) << proof.text() << ": " << *fault;
        ++proved;
        return !fault;
      });
    }
  }
  EXPECT_GT(proved, 10000u);
}

TEST(Plans, AreProvedForSamplesUpTo256Ranks) {
  Random random(test_seed());
  for (int sample = 0; sample < kSamples; ++sample) {
    const auto ranks = static_cast<Rank>(17 + random.below(240));
    const auto lanes = static_cast<std::uint32_t>(1 + random.below(4));
    const Algorithm& algorithm = algorithms()[random.below(algorithms().size())];
    Shape shape;
    shape.collective = algorithm.collective;
    shape.ranks = ranks;
    shape.lanes = algorithm.collective == Collective::barrier ? 1 : lanes;
    shape.root = static_cast<Rank>(random.below(static_cast<std::uint64_t>(ranks)));
    shape.peer = static_cast<Rank>(random.below(static_cast<std::uint64_t>(ranks)));
    shape.in_place = random.below(2) == 1;
    shape.reach = kReaches[random.below(kReaches.size())];
    if (random.below(2) == 1) {
      const std::uint64_t hosts = 2 + random.below(20);
      for (Rank rank = 0; rank < ranks; ++rank)
        shape.host_of.push_back(static_cast<std::uint32_t>(random.below(hosts)));
    }
    if (!algorithm.fits(shape)) continue;
    const Case proof{&algorithm, shape};
    const auto fault = prove(proof);
    EXPECT_FALSE(fault) << "TUTTI_SEED=" << test_seed() << " " << proof.text() << ": " << *fault;
  }
}

// Large enough for every phase of every algorithm; the checker has shown the rest.
TEST(Plans, GiveWhatTheCollectivePromisesUnderAnyScheduleAndTile) {
  for (const Rank ranks : kRanksRun) {
    for (const std::uint32_t lanes : {1u, 3u}) {
      for_each_case(ranks, lanes, [&](const Case& proof) {
        if (proof.shape.root > 2 || proof.shape.peer > 2) return true;
        auto plan = build(*proof.algorithm, proof.shape);
        EXPECT_TRUE(plan.is_ok()) << plan.status().text();
        const bool in_place = proof.shape.in_place;
        const auto maps = odd_maps(*plan, in_place);
        Memories inputs = numbered_inputs(*plan, maps, in_place);
        for (const std::uint64_t tile : {0, 2}) {
          Memories results = inputs;
          const InterpretOptions options{.type = DataType::int64,
                                         .op = Op::average,
                                         .factors = {},
                                         .seed = test_seed() + tile,
                                         .tile_elements = tile,
                                         .in_place = in_place};
          const Status status = interpret(*plan, maps, options, results);
          EXPECT_TRUE(status.is_ok()) << proof.text() << ": " << status.text();
          EXPECT_EQ(first_difference(*plan, maps, inputs, in_place, results), "") << proof.text() << " tile " << tile;
        }
        return !::testing::Test::HasFailure();
      });
    }
  }
}

TEST(Plans, GiveTheSameBitsUnderEveryScheduleForEveryTypeAndOperation) {
  for (const Algorithm& algorithm : algorithms()) {
    Shape shape;
    shape.ranks = 5;
    shape.lanes = 2;
    shape.reach = Reach::full;
    if (!algorithm.fits(shape)) shape.host_of = {0, 0, 0, 1, 1};
    if (algorithm.collective != Collective::all_reduce || !algorithm.fits(shape)) continue;
    const std::string_view name = algorithm.name;
    const auto plan = build(algorithm, shape);
    ASSERT_TRUE(plan.is_ok()) << plan.status().text();
    const auto maps = even_maps(*plan, 37);
    for (const DataType type : kDataTypes) {
      for (const Op op : kOps) {
        Memories inputs = create_memories(maps, type);
        Random random(7);
        for (auto& bytes : inputs.in) {
          // Bit patterns of small positive numbers in every float format, anything in integers.
          for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next() & 0x3f);
        }
        std::vector<std::vector<std::byte>> first;
        for (const std::uint64_t seed : {1, 2, 3}) {
          Memories results = inputs;
          const InterpretOptions options{.type = type,
                                         .op = op,
                                         .factors = {1, 2, 3, 4, 5},
                                         .seed = seed,
                                         .tile_elements = seed == 3 ? 2u : 0u,
                                         .in_place = false};
          ASSERT_TRUE(interpret(*plan, maps, options, results).is_ok());
          if (first.empty()) first = results.out;
          EXPECT_EQ(results.out, first) << name << " " << name_of(type) << " " << name_of(op);
        }
        for (const auto& out : first) EXPECT_EQ(out, first[0]) << "every rank holds the same bits";
      }
    }
  }
}

TEST(Plans, ServeVariableCountsWithZerosAmongThem) {
  const std::vector<std::uint64_t> counts = {3, 0, 7, 1};
  for (const Collective collective : kCollectives) {
    if (!has_variable_form(collective)) continue;
    for (const Algorithm& algorithm : algorithms()) {
      Shape shape;
      shape.collective = collective;
      shape.ranks = 4;
      shape.lanes = 2;
      shape.reach = Reach::full;
      if (algorithm.collective != collective || !algorithm.fits(shape)) continue;
      const auto plan = build(algorithm, shape);
      std::vector<std::uint64_t> all = counts;
      if (collective == Collective::all_to_all) all = {3, 0, 7, 1, 2, 2, 0, 5, 0, 0, 0, 0, 9, 1, 4, 3};
      const auto maps = variable_maps(*plan, all);
      ASSERT_TRUE(maps.is_ok()) << maps.status().text();
      Memories inputs = numbered_inputs(*plan, *maps, false);
      Memories results = inputs;
      InterpretOptions options;
      options.type = DataType::int64;
      options.op = Op::average;
      ASSERT_TRUE(interpret(*plan, *maps, options, results).is_ok()) << algorithm.name;
      EXPECT_EQ(first_difference(*plan, *maps, inputs, false, results), "")
          << algorithm.name << " " << name_of(collective);
    }
  }
}

TEST(Plans, SendDataThroughPipesUnlessTheirAlgorithmOnlyReaches) {
  for_each_case(4, 1, [&](const Case& proof) {
    if (proof.shape.collective == Collective::barrier) return true;
    if (proof.shape.collective == Collective::send_receive && proof.shape.root == proof.shape.peer) return true;
    bool sends = false;
    const auto plan = build(*proof.algorithm, proof.shape);
    for (const Program& program : plan->programs) {
      for (const Lane& lane : program.lanes) {
        for (std::size_t i = 0; i < lane.size(); ++i) sends = sends || lane[i].send_to != kNoRank;
      }
    }
    EXPECT_EQ(sends, !proof.algorithm->only_reaches) << proof.text();
    return true;
  });
}

TEST(Plans, AskForTheReachAndTheStagesThatTheirAlgorithmSays) {
  for_each_case(4, 2, [&](const Case& proof) {
    const auto plan = build(*proof.algorithm, proof.shape);
    const bool is_between_hosts = !proof.shape.host_of.empty();
    const bool is_staged_form =
        is_between_hosts && proof.shape.reach == Reach::stage && proof.shape.collective != Collective::barrier;
    EXPECT_EQ(uses_stage(*plan), proof.algorithm->uses_stage || is_staged_form) << proof.text();
    if (proof.algorithm->reach == Reach::none) return true;
    EXPECT_GE(proof.shape.reach, proof.algorithm->reach) << proof.text();
    EXPECT_TRUE(is_between_hosts || proof.shape.reach == proof.algorithm->reach) << proof.text();
    Shape more = proof.shape;
    more.reach = Reach::full;
    EXPECT_TRUE(proof.algorithm->fits(more)) << proof.text();
    return true;
  });
}

bool is_reached(const Plan& plan, Rank owner, std::uint32_t lane_index) {
  const auto reaches = [&](Rank rank, std::span<const Slice> slices) {
    return std::any_of(slices.begin(), slices.end(), [&](const Slice& slice) {
      return rank != owner && slice.owner == owner && slice.buffer != Buffer::stage;
    });
  };
  for (Rank rank = 0; rank < plan.ranks; ++rank) {
    const Lane& lane = plan.programs[static_cast<std::size_t>(rank)].lanes[lane_index];
    for (std::size_t i = 0; i < lane.size(); ++i) {
      if (reaches(rank, lane.sources(lane[i])) || reaches(rank, lane.targets(lane[i]))) return true;
    }
  }
  return false;
}

// An engine sends the addresses of a rank's buffers together with these tokens.
TEST(Plans, BeginWithTokensAloneOnEveryRankWhoseBuffersAreReached) {
  int reached = 0;
  for (const Rank ranks : {2, 5, 11}) {
    for_each_case(ranks, 2, [&](const Case& proof) {
      if (proof.algorithm->reach < Reach::load) return true;
      const auto plan = build(*proof.algorithm, proof.shape);
      for (Rank rank = 0; rank < ranks; ++rank) {
        for (std::uint32_t lane_index = 0; lane_index < 2; ++lane_index) {
          if (!is_reached(*plan, rank, lane_index)) continue;
          const Lane& lane = plan->programs[static_cast<std::size_t>(rank)].lanes[lane_index];
          EXPECT_FALSE(lane[0].has_value()) << proof.text();
          EXPECT_EQ(lane[0].wait_count, 0) << proof.text();
          EXPECT_GT(lane[0].signal_count, 0) << proof.text();
          ++reached;
        }
      }
      return true;
    });
  }
  EXPECT_GT(reached, 100);
}

// Runs a plan of many tiles with room for one tile in the stages, under many schedules; how often something is seen to
// go wrong.
int failures_with_one_place(const Plan& plan, bool keeps_stage_rule) {
  const auto maps = odd_maps(plan, false);
  Memories inputs = numbered_inputs(plan, maps, false);
  InterpretOptions options;
  options.type = DataType::int64;
  options.op = Op::average;
  options.tile_elements = 1;
  int failures = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Memories results = inputs;
    const Schedule schedule{.seed = seed, .slots = 100, .stage_tiles = 1, .keeps_stage_rule = keeps_stage_rule};
    const Status status = Interpreter(plan, maps, options, results, schedule).run();
    if (!status || !first_difference(plan, maps, inputs, false, results).empty()) ++failures;
  }
  return failures;
}

TEST(Plans, ThatUseStagesAreRightWithTheRuleBetweenTilesAndNotWithout) {
  for_each_case(3, 2, [&](const Case& proof) {
    if (!proof.algorithm->uses_stage || proof.shape.in_place || proof.shape.root > 0) return true;
    const auto plan = build(*proof.algorithm, proof.shape);
    EXPECT_EQ(failures_with_one_place(*plan, true), 0) << proof.text();
    // With two rounds a rank cannot store what others still load: they meet in between.
    if (std::string_view(proof.algorithm->name) != "publish") return true;
    EXPECT_GT(failures_with_one_place(*plan, false), 0) << proof.text();
    return true;
  });
}

TEST(Plans, OfOneRankAreThoseOfTheWholePlan) {
  for (const Algorithm& algorithm : algorithms()) {
    Shape shape;
    shape.collective = algorithm.collective;
    shape.ranks = 6;
    shape.root = 2;
    shape.peer = 4;
    shape.reach = Reach::full;
    if (!algorithm.fits(shape)) shape.host_of = {0, 0, 0, 1, 1, 1};
    if (!algorithm.fits(shape)) continue;
    const auto plan = build(algorithm, shape);
    for (Rank rank = 0; rank < shape.ranks; ++rank) {
      EXPECT_EQ(*build_program(algorithm, shape, rank), plan->programs[static_cast<std::size_t>(rank)]);
    }
  }
}

}  // namespace
}  // namespace tutti::plan

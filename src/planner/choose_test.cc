#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "planner/bound.h"
#include "planner/orders.h"
#include "tutti/planner.h"

namespace tutti::planner {
namespace {

#ifdef TUTTI_HAS_SANITIZER  // an instrumented build is many times slower
const std::vector<std::uint64_t> kSizes = {1, 262144};
#else
const std::vector<std::uint64_t> kSizes = {1, 4096, 262144, 16777216};
#endif

topology::Topology sample(const std::string& name) {
  auto topology = topology::read_file(std::string(TUTTI_SOURCE_DIR) + "/share/topologies/" + name + ".topo");
  EXPECT_TRUE(topology.is_ok()) << topology.status().text();
  return *topology;
}

double simulated_s(const topology::Topology& topology, const Candidate& candidate, const Request& request) {
  const auto plan = plan::build(*candidate.algorithm, candidate.shape);
  const auto timeline = plan::simulate(*plan, *create_model(topology),
                                       {.elements = request.elements,
                                        .element_bytes = request.element_bytes,
                                        .tile_bytes = candidate.tile_bytes,
                                        .record_spans = false});
  EXPECT_TRUE(timeline.is_ok()) << timeline.status().text();
  return timeline->total_s;
}

TEST(Planner, IsNeverWorseThanTenPercentFromTheBestOfAllPlans) {
  for (const char* machine : {"laptop", "v100x8", "a100x8", "a100x16"}) {
    const topology::Topology topology = sample(machine);
    for (const plan::Collective collective : plan::kCollectives) {
      for (const std::uint64_t elements : kSizes) {
        Request request;
        request.collective = collective;
        request.elements = elements;
        request.peer = collective == plan::Collective::send_receive ? 5 : 0;
        const auto choice = choose(topology, request);
        ASSERT_TRUE(choice.is_ok()) << choice.status().text();
        double best = std::numeric_limits<double>::infinity();
        for (const Candidate& candidate : candidates(topology, request)) {
          best = std::min(best, simulated_s(topology, candidate, request));
        }
        EXPECT_LE(choice->best.estimate_s, best * 1.1)
            << machine << " " << plan::name_of(collective) << " " << elements << ": " << choice->why;
        EXPECT_DOUBLE_EQ(choice->best.estimate_s, simulated_s(topology, choice->best, request));
      }
    }
  }
}

TEST(Planner, BoundsNeverExceedTheSimulatedTime) {
  for (const char* machine : {"laptop", "v100x8", "a100x16"}) {
    const topology::Topology topology = sample(machine);
    const auto model = create_model(topology);
    for (const plan::Collective collective : plan::kCollectives) {
      for (const std::uint64_t elements : kSizes) {
        Request request;
        request.collective = collective;
        request.elements = elements;
        for (const Candidate& candidate : candidates(topology, request)) {
          const auto bound = lower_bound(*model, candidate, request);
          ASSERT_TRUE(bound.is_ok());
          EXPECT_LE(bound->seconds, simulated_s(topology, candidate, request) * 1.0001)
              << machine << " " << candidate.algorithm->name << " " << plan::name_of(collective) << " " << elements;
        }
      }
    }
  }
}

TEST(Planner, BoundsHoldForAlgorithmsThatReachLess) {
  const topology::Topology topology = sample("a100x8");
  const auto model = create_model(topology);
  for (const plan::Algorithm& algorithm : plan::algorithms()) {
    if (algorithm.reach == plan::Reach::none) continue;
    for (const std::uint64_t elements : kSizes) {
      Request request;
      request.collective = algorithm.collective;
      request.elements = elements;
      Candidate candidate{&algorithm, {}, 256 << 10, 0};
      candidate.shape.collective = algorithm.collective;
      candidate.shape.ranks = 8;
      candidate.shape.peer = 5;
      candidate.shape.reach = algorithm.reach;
      if (!algorithm.fits(candidate.shape)) candidate.shape.ranks = 2;
      if (candidate.shape.ranks == 2) candidate.shape.peer = 1;
      if (!algorithm.fits(candidate.shape)) continue;  // it is for several hosts
      const auto bound = lower_bound(*model, candidate, request);
      ASSERT_TRUE(bound.is_ok()) << bound.status().text();
      EXPECT_LE(bound->seconds, simulated_s(topology, candidate, request) * 1.0001)
          << algorithm.name << " " << plan::name_of(algorithm.collective) << " " << elements;
    }
  }
}

TEST(Planner, LeavesAlgorithmsForLessReachToMachinesThatHaveLess) {
  for (const plan::Collective collective : plan::kCollectives) {
    Request request;
    request.collective = collective;
    for (const Candidate& candidate : candidates(sample("a100x8"), request)) {
      const plan::Reach reach = candidate.algorithm->reach;
      EXPECT_TRUE(reach == plan::Reach::none || reach == plan::Reach::full) << candidate.algorithm->name;
    }
  }
}

TEST(Planner, TakesTheReachOfTheRequestInsteadOfTheTopologys) {
  Request request;
  request.elements = 16;
  request.reach = plan::Reach::stage;
  const auto all = candidates(sample("laptop"), request);
  const auto has = [&](std::string_view name) {
    return std::any_of(all.begin(), all.end(), [&](const Candidate& c) { return c.algorithm->name == name; });
  };
  EXPECT_TRUE(has("publish") && has("staged") && has("ring"));
  EXPECT_FALSE(has("pull") || has("direct"));
  EXPECT_EQ(choose(sample("laptop"), request)->best.algorithm->name, "publish");
}

TEST(Planner, ReachesWhereItCanAndUsesRingsAlongTheCablesWhereThereIsNoSwitch) {
  Request large;
  large.elements = 64 << 20;
  EXPECT_EQ(choose(sample("a100x8"), large)->best.algorithm->name, "direct");
  const auto v100 = choose(sample("v100x8"), large);
  EXPECT_EQ(v100->best.algorithm->name, "ring");
  EXPECT_EQ(v100->best.shape.orders.size(), 6u);
  EXPECT_TRUE(choose(sample("a100x16"), large)->best.algorithm->name.starts_with("hierarchical"));
}

TEST(Planner, SaysWhyInOneSentence) {
  Request request;
  request.elements = 64 << 20;
  const auto choice = choose(sample("a100x8"), request);
  EXPECT_NE(choice->why.find("bandwidth decides"), std::string::npos) << choice->why;
  EXPECT_NE(choice->why.find("the next best"), std::string::npos) << choice->why;
  request.elements = 1;
  EXPECT_NE(choose(sample("a100x8"), request)->why.find("hops decide"), std::string::npos);
}

TEST(Planner, HonoursWhatMustNotRunInPlace) {
  Request request;
  request.collective = plan::Collective::all_to_all;
  request.elements = 1024;
  request.in_place = true;
  const Candidate best = choose(sample("laptop"), request)->best;
  EXPECT_TRUE(best.shape.in_place);
  EXPECT_TRUE(best.algorithm->name == "burst" || best.algorithm->name == "pairwise") << best.algorithm->name;
}

TEST(Planner, RefusesARootThatIsNoRank) {
  Request request;
  request.collective = plan::Collective::broadcast;
  request.root = 99;
  EXPECT_EQ(choose(sample("laptop"), request).status().text(), "root 99 is not a rank of 8");
}

TEST(Orders, UseEveryCableOfACubeMeshOnce) {
  const auto orders = ring_orders(sample("v100x8"));
  ASSERT_EQ(orders.size(), 6u) << "three rings, each in both directions, use all six cables of each device";
  for (const auto& order : orders) {
    std::vector<Rank> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(sorted[i], static_cast<Rank>(i));
  }
}

TEST(Orders, CrossBetweenHostsAtEveryCard) {
  EXPECT_EQ(ring_orders(sample("a100x16")).size(), 16u);
  EXPECT_TRUE(ring_orders(sample("a100x8")).empty());
}

}  // namespace
}  // namespace tutti::planner

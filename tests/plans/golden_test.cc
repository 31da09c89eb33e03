// Small plans as text: what a person sees. After a wanted change run with TUTTI_WRITE_GOLDEN=1 and read the difference.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tutti/prove.h"

namespace tutti::plan {
namespace {

struct Golden {
  const char* file;
  const char* algorithm;
  Collective collective;
  Rank ranks;
  std::uint32_t lanes;
  Reach reach;
  std::vector<std::uint32_t> hosts;
};

const std::vector<Golden>& goldens() {
  using C = Collective;
  static const std::vector<Golden> all = {
      {"ring_all_reduce_4", "ring", C::all_reduce, 4, 1, Reach::none, {}},
      {"ring_all_reduce_2_lanes_2", "ring", C::all_reduce, 2, 2, Reach::none, {}},
      {"direct_all_reduce_4", "direct", C::all_reduce, 4, 1, Reach::full, {}},
      {"pairwise_all_reduce_3", "pairwise", C::all_reduce, 3, 1, Reach::none, {}},
      {"halving_all_reduce_5", "halving", C::all_reduce, 5, 1, Reach::none, {}},
      {"tree_all_reduce_4_lanes_2", "tree", C::all_reduce, 4, 2, Reach::none, {}},
      {"hierarchical_ring_all_reduce_3_2", "hierarchical_ring", C::all_reduce, 5, 1, Reach::full, {0, 0, 0, 1, 1}},
      {"hierarchical_ring_all_reduce_3_2_staged",
       "hierarchical_ring",
       C::all_reduce,
       5,
       1,
       Reach::stage,
       {0, 0, 0, 1, 1}},
      {"hierarchical_tree_all_reduce_2_2_staged", "hierarchical_tree", C::all_reduce, 4, 1, Reach::stage, {0, 0, 1, 1}},
      {"leader_pairwise_all_reduce_2_2_staged", "leader_pairwise", C::all_reduce, 4, 1, Reach::stage, {0, 0, 1, 1}},
      {"leader_pairwise_all_gather_2_2_staged", "leader_pairwise", C::all_gather, 4, 1, Reach::stage, {0, 0, 1, 1}},
      {"leader_pairwise_reduce_scatter_2_2_staged",
       "leader_pairwise",
       C::reduce_scatter,
       4,
       1,
       Reach::stage,
       {0, 0, 1, 1}},
      {"leader_star_broadcast_2_2_staged", "leader_star", C::broadcast, 4, 1, Reach::stage, {0, 0, 1, 1}},
      {"leader_star_reduce_2_2_staged", "leader_star", C::reduce, 4, 1, Reach::stage, {0, 0, 1, 1}},
      {"hierarchical_chain_broadcast_2_2_staged", "hierarchical_chain", C::broadcast, 4, 1, Reach::stage, {0, 0, 1, 1}},
      {"hierarchical_ring_all_gather_2_1_staged", "hierarchical_ring", C::all_gather, 3, 1, Reach::stage, {0, 0, 1}},
      {"hierarchical_ring_reduce_scatter_2_1_staged",
       "hierarchical_ring",
       C::reduce_scatter,
       3,
       1,
       Reach::stage,
       {0, 0, 1}},
      {"hierarchical_ring_all_reduce_2_2_pipes", "hierarchical_ring", C::all_reduce, 4, 1, Reach::none, {0, 0, 1, 1}},
      {"hierarchical_ring_all_gather_3_2", "hierarchical_ring", C::all_gather, 5, 1, Reach::full, {0, 0, 0, 1, 1}},
      {"hierarchical_ring_all_gather_2_1_pipes", "hierarchical_ring", C::all_gather, 3, 1, Reach::none, {0, 0, 1}},
      {"hierarchical_ring_reduce_scatter_3_2_pipes",
       "hierarchical_ring",
       C::reduce_scatter,
       5,
       1,
       Reach::none,
       {0, 0, 0, 1, 1}},
      {"bruck_all_gather_3", "bruck", C::all_gather, 3, 1, Reach::none, {}},
      {"bruck_all_to_all_4", "bruck", C::all_to_all, 4, 1, Reach::none, {}},
      {"pairwise_all_to_all_3", "pairwise", C::all_to_all, 3, 1, Reach::none, {}},
      {"burst_all_to_all_3", "burst", C::all_to_all, 3, 1, Reach::none, {}},
      {"pairwise_reduce_scatter_3", "pairwise", C::reduce_scatter, 3, 1, Reach::none, {}},
      {"halving_reduce_scatter_3", "halving", C::reduce_scatter, 3, 1, Reach::none, {}},
      {"chain_broadcast_3", "chain", C::broadcast, 3, 1, Reach::none, {}},
      {"tree_reduce_5", "tree", C::reduce, 5, 1, Reach::none, {}},
      {"direct_scatter_3", "direct", C::scatter, 3, 1, Reach::full, {}},
      {"publish_all_reduce_3", "publish", C::all_reduce, 3, 1, Reach::stage, {}},
      {"publish_all_to_all_3", "publish", C::all_to_all, 3, 1, Reach::stage, {}},
      {"staged_all_reduce_3", "staged", C::all_reduce, 3, 1, Reach::stage, {}},
      {"pull_all_reduce_3", "pull", C::all_reduce, 3, 1, Reach::load, {}},
      {"bruck_barrier_3", "bruck", C::barrier, 3, 1, Reach::none, {}},
  };
  return all;
}

TEST(Golden, PlansReadAsTheyDid) {
  for (const Golden& golden : goldens()) {
    Shape shape;
    shape.collective = golden.collective;
    shape.ranks = golden.ranks;
    shape.lanes = golden.lanes;
    shape.reach = golden.reach;
    shape.host_of = golden.hosts;
    const auto plan = build(*find_algorithm(golden.algorithm, golden.collective), shape);
    ASSERT_TRUE(plan.is_ok()) << golden.file << ": " << plan.status().text();
    const std::string path = std::string(TUTTI_SOURCE_DIR) + "/tests/plans/golden/" + golden.file + ".plan";
    if (std::getenv("TUTTI_WRITE_GOLDEN") != nullptr) std::ofstream(path) << print(*plan);
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_EQ(print(*plan), text.str()) << path;
    EXPECT_EQ(*parse(text.str()), *plan);
  }
}

}  // namespace
}  // namespace tutti::plan

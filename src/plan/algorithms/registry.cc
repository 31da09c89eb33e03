// The list of all algorithms: which collective, when it fits, into how many blocks it divides the data.
#include <algorithm>
#include <array>

#include "plan/algorithms/bruck.h"
#include "plan/algorithms/chain.h"
#include "plan/algorithms/direct.h"
#include "plan/algorithms/echo.h"
#include "plan/algorithms/halves.h"
#include "plan/algorithms/halving.h"
#include "plan/algorithms/hierarchical.h"
#include "plan/algorithms/hierarchical_leader.h"
#include "plan/algorithms/hierarchical_pipes.h"
#include "plan/algorithms/pairwise.h"
#include "plan/algorithms/publish.h"
#include "plan/algorithms/pull.h"
#include "plan/algorithms/ring.h"
#include "plan/algorithms/staged.h"
#include "plan/algorithms/tree.h"

namespace tutti::plan {

namespace {

using hierarchical::Outer;

// Plans with n * n steps stop being sensible, and being buildable, somewhere; choose a hierarchical one before that.
constexpr Rank kQuadraticRanksMax = 1024;
constexpr Rank kBruckAllToAllRanksMax = 256;  // n * n * log n steps

std::uint32_t host_count(const Shape& shape) {
  std::vector<std::uint32_t> hosts = shape.host_of;
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(hosts.size()));
}

bool is_alone(const Shape& s) { return s.ranks == 1; }
bool is_group(const Shape& s) { return s.ranks > 1 && s.orders.empty(); }
bool is_ring(const Shape& s) { return s.ranks > 1 && s.ranks <= kQuadraticRanksMax; }
bool is_chain(const Shape& s) { return s.ranks > 1; }
bool is_small_group(const Shape& s) { return is_group(s) && s.ranks <= kQuadraticRanksMax; }
bool is_bruck_all_to_all(const Shape& s) { return is_group(s) && s.ranks <= kBruckAllToAllRanksMax && !s.in_place; }
template <Reach least>
bool is_within(const Shape& s) {
  return is_small_group(s) && s.reach >= least && host_count(s) == 1;
}
template <Reach least>
bool is_within_apart(const Shape& s) {
  return is_within<least>(s) && !s.in_place;
}
template <Reach least>
bool is_pair_within(const Shape& s) {
  return is_within<least>(s) && s.root != s.peer;
}
template <Reach least>
bool is_two_within(const Shape& s) {
  return is_within<least>(s) && s.ranks == 2;
}
bool is_hierarchy(const Shape& s) {
  const std::uint32_t hosts = is_group(s) ? host_count(s) : 1;
  return hosts > 1 && hosts < static_cast<std::uint32_t>(s.ranks);
}
bool is_small_hierarchy(const Shape& s) { return is_hierarchy(s) && is_small_group(s); }
// One rank speaks for each host through its neighbours' memory, so there has to be some reach.
bool is_led(const Shape& s) { return s.reach != Reach::none && is_small_hierarchy(s); }
bool is_ring_hierarchy(const Shape& s) {
  return is_hierarchy(s) && host_count(s) <= static_cast<std::uint32_t>(kQuadraticRanksMax);
}

std::uint32_t no_blocks(const Shape&) { return 0; }
std::uint32_t one_block(const Shape&) { return 1; }
std::uint32_t two_blocks(const Shape&) { return 2; }
std::uint32_t block_per_rank(const Shape& s) { return static_cast<std::uint32_t>(s.ranks); }
std::uint32_t block_per_participant(const Shape& s) { return halving::participants(s.ranks); }

std::uint32_t rail_count(const Shape& s) { return Setting(s, 0).rail_count(); }
template <Outer outer>
std::uint32_t rail_blocks(const Shape& s) {
  return rail_count(s) * hierarchical::outer_blocks(outer, host_count(s));
}
std::uint32_t block_per_rail_with_reach(const Shape& s) { return s.reach != Reach::none ? rail_count(s) : 1; }

// Every lane runs the same algorithm on its share of every block.
template <void (*Emit)(Lane&, const View&)>
void in_lanes(const Setting& setting, Rank me, Program& program) {
  for (std::uint32_t lane = 0; lane < setting.shape().lanes; ++lane) {
    Emit(program.lanes.emplace_back(), setting.view(me, lane));
  }
}

// Tokens carry no data to divide.
template <void (*Emit)(Lane&, const View&)>
void in_one_lane(const Setting& setting, Rank me, Program& program) {
  Emit(program.lanes.emplace_back(), setting.view(me, 0));
}

template <void (*Emit)(Lane&, const View&, Rank, Rank)>
void between_two(const Setting& setting, Rank me, Program& program) {
  for (std::uint32_t lane = 0; lane < setting.shape().lanes; ++lane) {
    Emit(program.lanes.emplace_back(), setting.view(me, lane), setting.shape().root, setting.shape().peer);
  }
}

void tree_all_reduce(const Setting& setting, Rank me, Program& program) {
  tree::for_lane_pairs(setting.shape().lanes, program,
                       [&](std::uint32_t lane, tree::Lanes lanes) { tree::all_reduce(lanes, setting.view(me, lane)); });
}

void copy_over(Lane& lane, const View& v) { lane.step().load(v.own(Buffer::in, 0)).store(v.own(Buffer::out, 0)); }
void copy_and_finish(Lane& lane, const View& v) {
  lane.step().load(v.own(Buffer::in, 0)).finish().store(v.own(Buffer::out, 0));
}
void nothing(Lane&, const View&) {}

using Hierarchical = void (*)(const Setting&, Rank, Program&, Outer);
using RailWise = void (*)(const Setting&, Rank, Program&);
template <RailWise with_reach, RailWise with_pipes>
void in_hierarchy(const Setting& setting, Rank me, Program& program) {
  (setting.shape().reach != Reach::none ? with_reach : with_pipes)(setting, me, program);
}
template <Hierarchical with_reach, Hierarchical with_pipes, Outer outer>
void in_hierarchy(const Setting& setting, Rank me, Program& program) {
  (setting.shape().reach != Reach::none ? with_reach : with_pipes)(setting, me, program, outer);
}

// The same with one rail: the first rank of each host, or the root, speaks for it.
template <Hierarchical build, Outer outer>
void with_leaders(const Setting& setting, Rank me, Program& program) {
  build(Setting(setting.shape(), setting.blocks(), Rails::one), me, program, outer);
}

template <RailWise build>
void with_leaders(const Setting& setting, Rank me, Program& program) {
  build(Setting(setting.shape(), setting.blocks(), Rails::one), me, program);
}

using C = Collective;
constexpr bool kOnlyReaches = true;
constexpr bool kUsesStage = true;
constexpr std::string_view kAlone = "one rank: copies its input to its output";
constexpr std::string_view kDirect = "ranks work in each other's memory and exchange only tokens";
constexpr std::string_view kPublish = "ranks load what the others put in their stages; one round, for small data";
constexpr std::string_view kStaged = "sums by block through stages; two rounds, least data";
constexpr std::string_view kEcho =
    "as staged, but sums go back to where the inputs were staged; fewest cache lines move";
constexpr std::string_view kPull = "ranks load from each other's memory and store only to their own";
constexpr std::string_view kHalves = "giver and taker carry one half each; both copy at the same time";
constexpr std::string_view kRing = "blocks go around a ring; least data, n - 1 hops a phase";
constexpr std::string_view kHalving = "partners exchange halves at doubling distances; least data, log n hops";
constexpr std::string_view kTree = "two complementary binary trees; log n hops, tiles in a pipeline";
constexpr std::string_view kBruck = "what a rank holds doubles each round; fewest hops";
constexpr std::string_view kPairwise = "every two ranks exchange what they have for each other";
constexpr std::string_view kBurst = "every rank sends all it has for others, then takes what they have; one hop";
constexpr std::string_view kChain = "ranks in a row, tiles in a pipeline; best for large data";
constexpr std::string_view kHierarchical = "inside hosts, across hosts by rail, inside hosts";
constexpr std::string_view kLeaders = "one rank speaks for its host; few messages, for small data";

constexpr std::string_view kNeedsNothing = "nothing";
constexpr std::string_view kNeedsOne = "one rank";
constexpr std::string_view kNeedsTwo = "two ranks or more";
constexpr std::string_view kNeedsRing = "2 to 1,024 ranks";
constexpr std::string_view kNeedsBruck = "2 to 256 ranks, not in place";
constexpr std::string_view kNeedsStage = "2 to 1,024 ranks on one host, with reach stage or more";
constexpr std::string_view kNeedsLoad = "2 to 1,024 ranks on one host, with reach load or more";
constexpr std::string_view kNeedsLoadApart = "2 to 1,024 ranks on one host, with reach load or more, not in place";
constexpr std::string_view kNeedsFull = "2 to 1,024 ranks on one host, with reach full";
constexpr std::string_view kNeedsFullTwo = "2 ranks on one host, with reach full";
constexpr std::string_view kNeedsFullApart = "2 to 1,024 ranks on one host, with reach full, not in place";
constexpr std::string_view kNeedsHosts = "several hosts, one of them with several ranks";
constexpr std::string_view kNeedsRingHosts = "2 to 1,024 hosts, one of them with several ranks";
constexpr std::string_view kNeedsLeaders =
    "several hosts, one of them with several ranks, with reach stage or more, at most 1,024 ranks";

namespace h = hierarchical;
namespace hl = hierarchical_leader;
namespace hp = hierarchical_pipes;

constexpr std::array kAlgorithms = {
    Algorithm{"direct", C::all_reduce, kDirect, kNeedsFull, is_within<Reach::full>, block_per_rank,
              in_lanes<direct::all_reduce>, Reach::full, kOnlyReaches},
    Algorithm{"publish", C::all_reduce, kPublish, kNeedsStage, is_within<Reach::stage>, one_block,
              in_lanes<publish::all_reduce>, Reach::stage, kOnlyReaches, kUsesStage},
    Algorithm{"echo", C::all_reduce, kEcho, kNeedsStage, is_within<Reach::stage>, block_per_rank,
              in_lanes<echo::all_reduce>, Reach::stage, kOnlyReaches, kUsesStage},
    Algorithm{"staged", C::all_reduce, kStaged, kNeedsStage, is_within<Reach::stage>, block_per_rank,
              in_lanes<staged::all_reduce>, Reach::stage, kOnlyReaches, kUsesStage},
    Algorithm{"pull", C::all_reduce, kPull, kNeedsLoad, is_within<Reach::load>, block_per_rank,
              in_lanes<pull::all_reduce>, Reach::load, kOnlyReaches},
    Algorithm{"pairwise", C::all_reduce, "every rank gets every input and adds them up; one hop, for small data",
              kNeedsRing, is_small_group, one_block, in_lanes<pairwise::all_reduce>},
    Algorithm{"ring", C::all_reduce, kRing, kNeedsRing, is_ring, block_per_rank, in_lanes<ring::all_reduce>},
    Algorithm{"halving", C::all_reduce, kHalving, kNeedsTwo, is_group, block_per_participant,
              in_lanes<halving::all_reduce>},
    Algorithm{"tree", C::all_reduce, kTree, kNeedsTwo, is_group, one_block, tree_all_reduce},
    Algorithm{"hierarchical_ring", C::all_reduce, kHierarchical, kNeedsRingHosts, is_ring_hierarchy,
              rail_blocks<Outer::ring>, in_hierarchy<h::all_reduce, hp::all_reduce, Outer::ring>},
    Algorithm{"hierarchical_halving", C::all_reduce, kHierarchical, kNeedsHosts, is_hierarchy,
              rail_blocks<Outer::halving>, in_hierarchy<h::all_reduce, hp::all_reduce, Outer::halving>},
    Algorithm{"hierarchical_tree", C::all_reduce, kHierarchical, kNeedsHosts, is_hierarchy, rail_blocks<Outer::tree>,
              in_hierarchy<h::all_reduce, hp::all_reduce, Outer::tree>},
    Algorithm{"leader_pairwise", C::all_reduce, kLeaders, kNeedsLeaders, is_led, one_block,
              with_leaders<h::all_reduce, Outer::pairwise>, Reach::stage},
    Algorithm{"leader_tree", C::all_reduce, kLeaders, kNeedsLeaders, is_led, one_block,
              with_leaders<h::all_reduce, Outer::tree>, Reach::stage},
    Algorithm{"alone", C::all_reduce, kAlone, kNeedsOne, is_alone, one_block, in_lanes<copy_and_finish>},

    Algorithm{"direct", C::all_gather, kDirect, kNeedsFull, is_within<Reach::full>, block_per_rank,
              in_lanes<direct::all_gather>, Reach::full, kOnlyReaches},
    Algorithm{"publish", C::all_gather, kPublish, kNeedsStage, is_within<Reach::stage>, block_per_rank,
              in_lanes<publish::all_gather>, Reach::stage, kOnlyReaches, kUsesStage},
    Algorithm{"pull", C::all_gather, kPull, kNeedsLoad, is_within<Reach::load>, block_per_rank,
              in_lanes<pull::all_gather>, Reach::load, kOnlyReaches},
    Algorithm{"ring", C::all_gather, kRing, kNeedsRing, is_ring, block_per_rank, in_lanes<ring::all_gather>},
    Algorithm{"halving", C::all_gather, kHalving, kNeedsTwo, is_group, block_per_rank, in_lanes<halving::all_gather>},
    Algorithm{"bruck", C::all_gather, kBruck, kNeedsTwo, is_group, block_per_rank, in_lanes<bruck::all_gather>},
    Algorithm{"pairwise", C::all_gather, kPairwise, kNeedsRing, is_small_group, block_per_rank,
              in_lanes<pairwise::all_gather>},
    Algorithm{"hierarchical_ring", C::all_gather, kHierarchical, kNeedsRingHosts, is_ring_hierarchy, block_per_rank,
              in_hierarchy<h::all_gather, hp::all_gather>},
    Algorithm{"leader_pairwise", C::all_gather, kLeaders, kNeedsLeaders, is_led, block_per_rank,
              with_leaders<hl::all_gather>, Reach::stage, !kOnlyReaches, kUsesStage},
    Algorithm{"alone", C::all_gather, kAlone, kNeedsOne, is_alone, one_block, in_lanes<copy_over>},

    Algorithm{"direct", C::reduce_scatter, kDirect, kNeedsFull, is_within<Reach::full>, block_per_rank,
              in_lanes<direct::reduce_scatter>, Reach::full, kOnlyReaches},
    Algorithm{"publish", C::reduce_scatter, kPublish, kNeedsStage, is_within<Reach::stage>, block_per_rank,
              in_lanes<publish::reduce_scatter>, Reach::stage, kOnlyReaches, kUsesStage},
    Algorithm{"pull", C::reduce_scatter, kPull, kNeedsLoad, is_within<Reach::load>, block_per_rank,
              in_lanes<direct::reduce_scatter>, Reach::load, kOnlyReaches},
    Algorithm{"ring", C::reduce_scatter, kRing, kNeedsRing, is_ring, block_per_rank, in_lanes<ring::reduce_scatter>},
    Algorithm{"halving", C::reduce_scatter, kHalving, kNeedsTwo, is_group, block_per_rank,
              in_lanes<halving::reduce_scatter>},
    Algorithm{"pairwise", C::reduce_scatter, kPairwise, kNeedsRing, is_small_group, block_per_rank,
              in_lanes<pairwise::reduce_scatter>},
    Algorithm{"hierarchical_ring", C::reduce_scatter, kHierarchical, kNeedsRingHosts, is_ring_hierarchy, block_per_rank,
              in_hierarchy<h::reduce_scatter, hp::reduce_scatter>},
    Algorithm{"leader_pairwise", C::reduce_scatter, kLeaders, kNeedsLeaders, is_led, block_per_rank,
              with_leaders<hl::reduce_scatter>, Reach::stage, !kOnlyReaches, kUsesStage},
    Algorithm{"alone", C::reduce_scatter, kAlone, kNeedsOne, is_alone, one_block, in_lanes<copy_and_finish>},

    Algorithm{"direct", C::broadcast, kDirect, kNeedsFull, is_within<Reach::full>, one_block,
              in_lanes<direct::broadcast>, Reach::full, kOnlyReaches},
    Algorithm{"publish", C::broadcast, kPublish, kNeedsStage, is_within<Reach::stage>, one_block,
              in_lanes<publish::broadcast>, Reach::stage, kOnlyReaches, kUsesStage},
    Algorithm{"pull", C::broadcast, kPull, kNeedsLoad, is_within<Reach::load>, one_block, in_lanes<direct::broadcast>,
              Reach::load, kOnlyReaches},
    Algorithm{"halves", C::broadcast, kHalves, kNeedsFullTwo, is_two_within<Reach::full>, two_blocks,
              in_lanes<halves::broadcast>, Reach::full, kOnlyReaches},
    Algorithm{"chain", C::broadcast, kChain, kNeedsTwo, is_chain, one_block, in_lanes<chain::broadcast>},
    Algorithm{"tree", C::broadcast, kTree, kNeedsTwo, is_group, one_block, in_lanes<tree::broadcast>},
    Algorithm{"hierarchical_chain", C::broadcast, kHierarchical, kNeedsHosts, is_hierarchy, block_per_rail_with_reach,
              in_hierarchy<h::broadcast, hp::broadcast, Outer::ring>},
    Algorithm{"hierarchical_tree", C::broadcast, kHierarchical, kNeedsHosts, is_hierarchy, block_per_rail_with_reach,
              in_hierarchy<h::broadcast, hp::broadcast, Outer::tree>},
    Algorithm{"leader_star", C::broadcast, kLeaders, kNeedsLeaders, is_led, one_block,
              with_leaders<h::broadcast, Outer::pairwise>, Reach::stage},
    Algorithm{"leader_tree", C::broadcast, kLeaders, kNeedsLeaders, is_led, one_block,
              with_leaders<h::broadcast, Outer::tree>, Reach::stage},
    Algorithm{"alone", C::broadcast, kAlone, kNeedsOne, is_alone, one_block, in_lanes<copy_over>},

    Algorithm{"direct", C::reduce, kDirect, kNeedsFull, is_within<Reach::full>, block_per_rank,
              in_lanes<direct::reduce>, Reach::full, kOnlyReaches},
    Algorithm{"publish", C::reduce, kPublish, kNeedsStage, is_within<Reach::stage>, one_block,
              in_lanes<publish::reduce>, Reach::stage, kOnlyReaches, kUsesStage},
    Algorithm{"staged", C::reduce, kStaged, kNeedsStage, is_within<Reach::stage>, block_per_rank,
              in_lanes<staged::reduce>, Reach::stage, kOnlyReaches, kUsesStage},
    Algorithm{"pull", C::reduce, kPull, kNeedsLoad, is_within<Reach::load>, block_per_rank, in_lanes<pull::reduce>,
              Reach::load, kOnlyReaches, kUsesStage},
    Algorithm{"chain", C::reduce, kChain, kNeedsTwo, is_chain, one_block, in_lanes<chain::reduce>},
    Algorithm{"tree", C::reduce, kTree, kNeedsTwo, is_group, one_block, in_lanes<tree::reduce>},
    Algorithm{"hierarchical_chain", C::reduce, kHierarchical, kNeedsHosts, is_hierarchy, block_per_rail_with_reach,
              in_hierarchy<h::reduce, hp::reduce, Outer::ring>},
    Algorithm{"hierarchical_tree", C::reduce, kHierarchical, kNeedsHosts, is_hierarchy, block_per_rail_with_reach,
              in_hierarchy<h::reduce, hp::reduce, Outer::tree>},
    Algorithm{"leader_star", C::reduce, kLeaders, kNeedsLeaders, is_led, one_block,
              with_leaders<h::reduce, Outer::pairwise>, Reach::stage},
    Algorithm{"leader_tree", C::reduce, kLeaders, kNeedsLeaders, is_led, one_block,
              with_leaders<h::reduce, Outer::tree>, Reach::stage},
    Algorithm{"alone", C::reduce, kAlone, kNeedsOne, is_alone, one_block, in_lanes<copy_and_finish>},

    Algorithm{"direct", C::gather, kDirect, kNeedsFull, is_within<Reach::full>, block_per_rank,
              in_lanes<direct::gather>, Reach::full, kOnlyReaches},
    Algorithm{"publish", C::gather, kPublish, kNeedsStage, is_within<Reach::stage>, block_per_rank,
              in_lanes<publish::gather>, Reach::stage, kOnlyReaches, kUsesStage},
    Algorithm{"pull", C::gather, kPull, kNeedsLoad, is_within<Reach::load>, block_per_rank, in_lanes<pull::gather>,
              Reach::load, kOnlyReaches},
    Algorithm{"pairwise", C::gather, kPairwise, kNeedsTwo, is_group, block_per_rank, in_lanes<pairwise::gather>},
    Algorithm{"alone", C::gather, kAlone, kNeedsOne, is_alone, one_block, in_lanes<copy_over>},

    Algorithm{"direct", C::scatter, kDirect, kNeedsFull, is_within<Reach::full>, block_per_rank,
              in_lanes<direct::scatter>, Reach::full, kOnlyReaches},
    Algorithm{"publish", C::scatter, kPublish, kNeedsStage, is_within<Reach::stage>, block_per_rank,
              in_lanes<publish::scatter>, Reach::stage, kOnlyReaches, kUsesStage},
    Algorithm{"pull", C::scatter, kPull, kNeedsLoad, is_within<Reach::load>, block_per_rank, in_lanes<direct::scatter>,
              Reach::load, kOnlyReaches},
    Algorithm{"pairwise", C::scatter, kPairwise, kNeedsTwo, is_group, block_per_rank, in_lanes<pairwise::scatter>},
    Algorithm{"alone", C::scatter, kAlone, kNeedsOne, is_alone, one_block, in_lanes<copy_over>},

    Algorithm{"direct", C::all_to_all, kDirect, kNeedsFullApart, is_within_apart<Reach::full>, block_per_rank,
              in_lanes<direct::all_to_all>, Reach::full, kOnlyReaches},
    Algorithm{"publish", C::all_to_all, kPublish, kNeedsStage, is_within<Reach::stage>, block_per_rank,
              in_lanes<publish::all_to_all>, Reach::stage, kOnlyReaches, kUsesStage},
    Algorithm{"pull", C::all_to_all, kPull, kNeedsLoadApart, is_within_apart<Reach::load>, block_per_rank,
              in_lanes<pull::all_to_all>, Reach::load, kOnlyReaches},
    Algorithm{"pairwise", C::all_to_all, kPairwise, kNeedsRing, is_small_group, block_per_rank,
              in_lanes<pairwise::all_to_all>},
    Algorithm{"burst", C::all_to_all, kBurst, kNeedsRing, is_small_group, block_per_rank,
              in_lanes<pairwise::all_to_all_at_once>},
    Algorithm{"bruck", C::all_to_all, kBruck, kNeedsBruck, is_bruck_all_to_all, block_per_rank,
              in_lanes<bruck::all_to_all>},
    Algorithm{"alone", C::all_to_all, kAlone, kNeedsOne, is_alone, one_block, in_lanes<copy_over>},

    Algorithm{"direct", C::barrier, "every rank tells every other", kNeedsRing, is_small_group, no_blocks,
              in_one_lane<direct::barrier>},
    Algorithm{"bruck", C::barrier, kBruck, kNeedsTwo, is_group, no_blocks, in_one_lane<bruck::barrier>},
    Algorithm{"tree", C::barrier, kTree, kNeedsTwo, is_group, no_blocks, in_one_lane<tree::barrier>},
    Algorithm{"hierarchical", C::barrier, kHierarchical, kNeedsHosts, is_hierarchy, no_blocks, h::barrier},
    Algorithm{"alone", C::barrier, "one rank has nobody to wait for", kNeedsOne, is_alone, no_blocks,
              in_one_lane<nothing>},

    Algorithm{"direct", C::send_receive, kDirect, kNeedsFull, is_pair_within<Reach::full>, one_block,
              between_two<direct::send_receive>, Reach::full, kOnlyReaches},
    Algorithm{"publish", C::send_receive, kPublish, kNeedsStage, is_pair_within<Reach::stage>, one_block,
              between_two<publish::send_receive>, Reach::stage, kOnlyReaches, kUsesStage},
    Algorithm{"pull", C::send_receive, kPull, kNeedsLoad, is_pair_within<Reach::load>, one_block,
              between_two<direct::send_receive>, Reach::load, kOnlyReaches},
    Algorithm{"pairwise", C::send_receive, kPairwise, kNeedsNothing, [](const Shape& s) { return s.orders.empty(); },
              one_block, between_two<pairwise::send_receive>},
};

}  // namespace

std::span<const Algorithm> algorithms() { return kAlgorithms; }

const Algorithm* find_algorithm(std::string_view name, Collective collective) {
  for (const Algorithm& algorithm : kAlgorithms) {
    if (algorithm.name == name && algorithm.collective == collective) return &algorithm;
  }
  return nullptr;
}

}  // namespace tutti::plan

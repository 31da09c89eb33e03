#include "nccl/algorithm_list.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace tutti::nccl {
namespace {

using plan::Collective;
using Allowed = std::map<Collective, std::set<std::string>>;

Allowed allowed_by(std::string_view text) {
  const auto list = parse_algorithms(text);
  EXPECT_TRUE(list) << list.status().text();
  Allowed allowed;
  if (!list) return allowed;
  for (const AllowedAlgorithms& each : *list) allowed[each.collective] = {each.names.begin(), each.names.end()};
  return allowed;
}

const std::set<std::string> kRing = {"ring", "hierarchical_ring"};
const std::set<std::string> kTree = {"tree", "hierarchical_tree", "leader_tree"};

TEST(AlgorithmList, AListWithoutACollectiveIsForAllThatNcclChoosesFor) {
  const Allowed allowed = allowed_by("Ring");
  EXPECT_EQ(allowed.size(), 5u);
  EXPECT_EQ(allowed.at(Collective::all_reduce), kRing);
  EXPECT_EQ(allowed.at(Collective::broadcast), (std::set<std::string>{"chain", "hierarchical_chain"}));
  EXPECT_FALSE(allowed.contains(Collective::all_to_all));
}

TEST(AlgorithmList, CaseDoesNotMatter) { EXPECT_EQ(allowed_by("rInG,TREE"), allowed_by("Ring,Tree")); }

TEST(AlgorithmList, LaterListsAreForTheirCollectiveAlone) {
  const Allowed allowed = allowed_by("ring;allreduce:tree;Broadcast:^tree");
  EXPECT_EQ(allowed.at(Collective::all_reduce), kTree);
  EXPECT_EQ(allowed.at(Collective::all_gather), kRing);
  EXPECT_TRUE(allowed.at(Collective::broadcast).contains("direct"));
  EXPECT_FALSE(allowed.at(Collective::broadcast).contains("tree"));
  EXPECT_EQ(allowed_by("allreduce:tree").size(), 1u);
}

TEST(AlgorithmList, LeavingOutWhatWeDoNotHaveRestrictsNothing) {
  EXPECT_TRUE(allowed_by("^NVLS,NVLSTree,CollnetDirect,CollnetChain").empty());
}

TEST(AlgorithmList, AskingOnlyForWhatWeDoNotHaveAllowsNothing) {
  const Allowed allowed = allowed_by("NVLS");
  ASSERT_EQ(allowed.size(), 5u);
  EXPECT_TRUE(allowed.at(Collective::all_reduce).empty());
}

TEST(AlgorithmList, EveryFamilyThatHasAMeaningHasMembersSomewhere) {
  for (const char* name : {"Ring", "Tree", "PAT"}) {
    std::size_t count = 0;
    for (const auto& [collective, names] : allowed_by(name)) count += names.size();
    EXPECT_GT(count, 0u) << name;
  }
}

TEST(AlgorithmList, ASlipIsAnErrorThatNamesWhatIsAllowed) {
  EXPECT_EQ(parse_algorithms("Ring,Treee").status().text(),
            "'Treee' is not known; it takes Tree, Ring, CollnetDirect, CollnetChain, NVLS, NVLSTree, PAT, with ^ in "
            "front of all for all but these");
  EXPECT_EQ(parse_algorithms("alltoall:ring").status().text(),
            "'alltoall' is no collective that it is for; those are Broadcast, Reduce, AllGather, ReduceScatter, "
            "AllReduce");
  EXPECT_EQ(parse_algorithms("allreduce:tree;ring").status().text(),
            "'ring' names no collective; only the first list may be for all, as in ring;allreduce:tree");
  EXPECT_FALSE(parse_algorithms("Ring,"));
  EXPECT_FALSE(parse_algorithms("allreduce:"));
}

TEST(AlgorithmList, ProtocolsAreCheckedForSlips) {
  EXPECT_TRUE(validate_protocols("^LL128"));
  EXPECT_TRUE(validate_protocols("simple;allreduce:ll,LL128"));
  EXPECT_EQ(validate_protocols("Simpel").text(),
            "'Simpel' is not known; it takes LL, LL128, Simple, with ^ in front of all for all but these");
}

}  // namespace
}  // namespace tutti::nccl

#include "planner/local.h"

#include <gtest/gtest.h>

namespace tutti::planner {
namespace {

using plan::Collective;
using plan::Reach;

LocalMachine machine(Rank ranks) {
  LocalMachine machine;
  machine.ranks = ranks;
  machine.cores = 8;
  machine.can_pull = true;
  machine.flash_bytes = 896;
  machine.outbox_bytes = 2 << 20;
  return machine;
}

Request all_reduce_of(std::uint64_t elements) { return {.collective = Collective::all_reduce, .elements = elements}; }

TEST(LocalPlans, ComeByTheirEstimatesAndThroughPipesLast) {
  const auto ranked = rank_local(machine(4), all_reduce_of(1000), Reach::full);
  ASSERT_GT(ranked.size(), 3u);
  EXPECT_NE(ranked.front().shape.reach, Reach::none);
  EXPECT_EQ(ranked.back().shape.reach, Reach::none);
  for (std::size_t i = 1; i < ranked.size(); ++i) {
    const bool was_pipe = ranked[i - 1].shape.reach == Reach::none;
    const bool is_pipe = ranked[i].shape.reach == Reach::none;
    EXPECT_LE(was_pipe, is_pipe);
    EXPECT_TRUE(was_pipe != is_pipe || ranked[i - 1].estimate_s <= ranked[i].estimate_s);
  }
}

TEST(LocalPlans, BetweenPrivateBuffersSendSumsBackToWhereTheirInputsWere) {
  EXPECT_EQ(rank_local(machine(2), all_reduce_of(1 << 20), Reach::load)[0].algorithm->name, "echo");
  EXPECT_EQ(rank_local(machine(4), all_reduce_of(1 << 20), Reach::stage)[0].algorithm->name, "echo");
}

TEST(LocalPlans, NeedNoMoreReachThanThereIs) {
  for (const Collective collective : plan::kCollectives) {
    for (const Reach reach : plan::kReaches) {
      const Request request{.collective = collective, .elements = 1000, .peer = 1};
      const auto ranked = rank_local(machine(4), request, reach);
      EXPECT_FALSE(ranked.empty()) << plan::name_of(collective) << " with reach " << plan::name_of(reach);
      for (const Candidate& candidate : ranked) EXPECT_LE(candidate.shape.reach, reach) << candidate.algorithm->name;
    }
  }
}

TEST(LocalPlans, DoNotPullWhereThatIsForbidden) {
  LocalMachine forbidding = machine(4);
  forbidding.can_pull = false;
  for (const Access& access : {Access(Reach::load), Access(Reach::full, false)}) {
    for (const Candidate& candidate : rank_local(forbidding, all_reduce_of(1000), access)) {
      EXPECT_LT(candidate.shape.reach, Reach::load) << candidate.algorithm->name;
    }
  }
}

TEST(LocalPlans, LetTheKernelCopyBetweenPrivateBuffers) {
  const Access across{Reach::full, false};
  const auto best = [&](Collective collective, Rank ranks) {
    const Request request{.collective = collective, .elements = 1 << 18, .in_place = true};
    LocalMachine fast = machine(ranks);
    fast.pull_bytes_per_s = 20e9;
    fast.load_bytes_per_s = fast.store_bytes_per_s = 80e9;
    return rank_local(fast, request, across)[0];
  };
  EXPECT_EQ(best(Collective::broadcast, 2).algorithm->name, "halves") << "both ends copy";
  EXPECT_EQ(best(Collective::gather, 4).algorithm->name, "direct") << "everybody but the root has nothing else to do";
  EXPECT_EQ(best(Collective::all_reduce, 2).algorithm->name, "echo") << "sums would go through bounces";
  LocalMachine slow = machine(2);
  slow.pull_bytes_per_s = 1e9;
  const Request message{.collective = Collective::send_receive, .elements = 1 << 18, .peer = 1};
  EXPECT_EQ(rank_local(slow, message, across)[0].algorithm->name, "publish");
}

TEST(LocalPlans, OfLargeDataTouchItAsLittleAsTheyCan) {
  EXPECT_EQ(rank_local(machine(4), all_reduce_of(16 << 20), Reach::full)[0].algorithm->name, "direct");
}

TEST(LocalPlans, AreExplainedWithTheirRivals) {
  const LocalMachine four = machine(4);
  const auto ranked = rank_local(four, all_reduce_of(1000), Reach::full);
  const std::string text = explain_local(four, all_reduce_of(1000), ranked);
  EXPECT_NE(text.find(std::string(ranked[0].algorithm->name) + " all_reduce over 4 ranks on 8 cores"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(std::string(ranked[1].algorithm->name) + " would take"), std::string::npos) << text;
  EXPECT_EQ(explain_local(four, all_reduce_of(1), {}), "no algorithm fits");
}

}  // namespace
}  // namespace tutti::planner

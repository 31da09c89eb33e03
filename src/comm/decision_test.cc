#include "comm/decision.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "transport/block.h"

namespace tutti::comm {
namespace {

using plan::Collective;

DecisionContext context_of(Rank ranks, Rank self, bool is_one_process) {
  DecisionContext context;
  context.self = self;
  context.is_one_process = is_one_process;
  context.launch.outbox_bytes = 2 << 20;
  context.machine.ranks = ranks;
  context.machine.cores = 8;
  context.machine.can_pull = true;
  context.machine.flash_bytes = transport::kFlashBytesMax;
  context.machine.outbox_bytes = 2 << 20;
  return context;
}

std::string plan_of(const std::shared_ptr<const engine::Launch>& launch) {
  return launch == nullptr ? "" : launch->prepared->header.algorithm;
}

TEST(Decision, IsTheSameOnEveryRank) {
  for (const Collective collective : plan::kCollectives) {
    const Rank ranks = collective == Collective::send_receive ? 2 : 5;
    for (const std::uint64_t count : {1, 200, 5000, 1 << 20}) {
      for (const bool is_one_process : {false, true}) {
        const Call call{.collective = collective, .count = count, .peer = 1};
        const auto first = decide(context_of(ranks, 0, is_one_process), call);
        ASSERT_TRUE(first.is_ok()) << first.status().text();
        for (Rank rank = 1; rank < ranks; ++rank) {
          const auto other = decide(context_of(ranks, rank, is_one_process), call);
          ASSERT_TRUE(other.is_ok()) << other.status().text();
          EXPECT_EQ(plan_of(other->preferred), plan_of(first->preferred)) << describe(call);
          EXPECT_EQ(plan_of(other->fallback), plan_of(first->fallback)) << describe(call);
          EXPECT_EQ(other->is_flash, first->is_flash) << describe(call);
          EXPECT_EQ(other->asked, first->asked) << describe(call);
          EXPECT_EQ(other->needed, first->needed) << describe(call);
          EXPECT_EQ(other->fingerprint, first->fingerprint) << describe(call);
        }
      }
    }
  }
}

DecisionContext restricted_to(DecisionContext context, std::vector<std::string> names) {
  context.allowed = {{.collective = Collective::all_reduce, .names = std::move(names)}};
  context.allowed_by = "a test";
  return context;
}

TEST(Decision, KeepsToWhatIsAllowed) {
  for (const bool is_one_process : {false, true}) {
    const DecisionContext context = restricted_to(context_of(4, 0, is_one_process), {"tree", "ring"});
    const auto decision = decide(context, {.count = 1 << 16});
    ASSERT_TRUE(decision.is_ok()) << decision.status().text();
    EXPECT_TRUE(plan_of(decision->fallback) == "tree" || plan_of(decision->fallback) == "ring");
    EXPECT_FALSE(decision->is_beyond_allowed);
    EXPECT_NE(explain(context, {.count = 1 << 16}).find("tree or ring, as a test says, may run"), std::string::npos)
        << explain(context, {.count = 1 << 16});
    const Call other{.collective = Collective::all_gather, .count = 1 << 16};
    EXPECT_EQ(plan_of(decide(context, other)->fallback),
              plan_of(decide(context_of(4, 0, is_one_process), other)->fallback));
  }
}

TEST(Decision, ChoosesFreelyWhereNothingAllowedRuns) {
  for (const auto& names : {std::vector<std::string>{"hierarchical_ring"}, std::vector<std::string>{}}) {
    const DecisionContext context = restricted_to(context_of(4, 0, true), names);
    const auto decision = decide(context, {.count = 1 << 16});
    ASSERT_TRUE(decision.is_ok()) << decision.status().text();
    EXPECT_TRUE(decision->is_beyond_allowed);
    EXPECT_EQ(plan_of(decision->fallback), plan_of(decide(context_of(4, 0, true), {.count = 1 << 16})->fallback));
    EXPECT_NE(explain(context, {.count = 1 << 16}).find("cannot run here, so anything may"), std::string::npos);
  }
}

std::vector<std::string> warnings;

TEST(DecisionCache, WarnsOnceWhereNothingAllowedRuns) {
  warnings.clear();
  log::install([](std::string_view line) { warnings.emplace_back(line); }, LogLevel::warning);
  DecisionCache cache;
  engine::Workspace workspace;
  for (const std::uint64_t count : {100, 200}) {
    for (const Rank self : {0, 1}) {  // rank 0 speaks for all
      EXPECT_TRUE(cache.add(restricted_to(context_of(4, self, true), {"leader_tree"}), {.count = count}, workspace));
    }
  }
  log::install(nullptr, LogLevel::error);
  const std::vector<std::string> expected = {
      "tutti: [0] warning: leader_tree, as a test says, cannot run all_reduce over 4 ranks here; the planner chooses "
      "freely for it\n"};
  EXPECT_EQ(warnings, expected);
}

TEST(Decision, WhatNeedsReachIsAllowedWhereThereIsReach) {
  DecisionContext context = restricted_to(context_of(4, 0, false), {"direct"});
  context.machine.can_pull = false;
  const auto decision = decide(context, {.count = 1 << 20});
  ASSERT_TRUE(decision.is_ok()) << decision.status().text();
  EXPECT_EQ(plan_of(decision->preferred), "direct");
  EXPECT_NE(plan_of(decision->fallback), "direct");
  EXPECT_FALSE(decision->is_beyond_allowed);
}

TEST(Decision, OneRankRunsWhateverIsAllowed) {
  const auto decision = decide(restricted_to(context_of(1, 0, true), {"ring"}), {.count = 8});
  ASSERT_TRUE(decision.is_ok()) << decision.status().text();
  EXPECT_EQ(plan_of(decision->fallback), "alone");
  EXPECT_FALSE(decision->is_beyond_allowed);
}

TEST(Decision, BetweenProcessesReachesBuffersOnlyWhereTheyCanBeReached) {
  const auto decision = decide(context_of(4, 0, false), {.count = 1 << 20});
  ASSERT_TRUE(decision.is_ok()) << decision.status().text();
  EXPECT_LT(decision->fallback->prepared->header.reach, plan::Reach::full) << plan_of(decision->fallback);
  ASSERT_NE(decision->preferred, nullptr);
  EXPECT_EQ(plan_of(decision->preferred), "direct");
  EXPECT_EQ(decision->asked.size(), 4u);
}

DecisionContext context_over_hosts(Rank self, WireCompression compression) {
  DecisionContext context = context_of(5, self, false);
  context.machine.can_pull = false;
  context.hosts = {0, 0, 1, 1, 1};
  context.compression = compression;
  return context;
}

std::optional<DataType> wire_type_of(const Call& call, WireCompression compression = WireCompression::bf16) {
  const auto decision = decide(context_over_hosts(0, compression), call);
  EXPECT_TRUE(decision.is_ok()) << decision.status().text();
  return decision->fallback->elements.wire_type;
}

TEST(Decision, CompressesSumsOfFloat32BetweenHostsAlone) {
  const Call sum{.count = 9000};
  EXPECT_EQ(wire_type_of(sum), DataType::bfloat16);
  EXPECT_EQ(wire_type_of(sum, WireCompression::fp16), DataType::float16);
  EXPECT_EQ(wire_type_of(sum, WireCompression::off), std::nullopt);
  for (const Op op : {Op::average, Op::scaled_sum}) {
    EXPECT_EQ(wire_type_of({.count = 9000, .reduction = op}), DataType::bfloat16);
  }
  for (const Op op : {Op::min, Op::max, Op::product}) {
    EXPECT_EQ(wire_type_of({.count = 9000, .reduction = op}), std::nullopt);
  }
  for (const DataType type : kDataTypes) {
    EXPECT_EQ(wire_type_of({.count = 9000, .type = type}).has_value(), type == DataType::float32) << name_of(type);
  }
  for (const Collective collective : plan::kCollectives) {
    if (collective == Collective::send_receive) continue;
    EXPECT_EQ(wire_type_of({.collective = collective, .count = 9000}).has_value(), plan::reduces(collective));
  }
  EXPECT_EQ(wire_type_of({.count = 8191}), std::nullopt) << "too short to be worth it";
  EXPECT_EQ(wire_type_of({.count = 8192}), DataType::bfloat16);
  EXPECT_EQ(wire_type_of({.collective = Collective::reduce_scatter, .count = 1639}), DataType::bfloat16);
  DecisionContext one_host = context_of(5, 0, false);
  one_host.compression = WireCompression::bf16;
  EXPECT_EQ(decide(one_host, sum)->fallback->elements.wire_type, std::nullopt);
}

TEST(Decision, RoundsCompleteSumsOfAnAllReduceAlone) {
  for (const Collective collective : {Collective::all_reduce, Collective::reduce, Collective::reduce_scatter}) {
    const auto decision =
        decide(context_over_hosts(0, WireCompression::fp16), {.collective = collective, .count = 9000});
    ASSERT_TRUE(decision.is_ok()) << decision.status().text();
    EXPECT_EQ(decision->fallback->rounds_sums, collective == Collective::all_reduce);
  }
}

TEST(Decision, UnderCompressionIsTheSameOnEveryRank) {
  for (const Collective collective : {Collective::all_reduce, Collective::reduce, Collective::reduce_scatter}) {
    for (const std::uint64_t count : {1639, 9000, 100'000}) {
      const Call call{.collective = collective, .count = count};
      const auto first = decide(context_over_hosts(0, WireCompression::bf16), call);
      ASSERT_TRUE(first.is_ok()) << first.status().text();
      for (Rank rank = 1; rank < 5; ++rank) {
        const auto other = decide(context_over_hosts(rank, WireCompression::bf16), call);
        ASSERT_TRUE(other.is_ok()) << other.status().text();
        EXPECT_EQ(plan_of(other->fallback), plan_of(first->fallback)) << describe(call);
        EXPECT_EQ(other->fallback->elements.wire_type, first->fallback->elements.wire_type) << describe(call);
        EXPECT_EQ(other->fallback->tile_bytes, first->fallback->tile_bytes) << describe(call);
      }
    }
  }
}

TEST(Decision, CountsTheBuffersOfEveryCollective) {
  const auto sizes = [](Collective collective, Rank rank) {
    const BufferSizes found = buffer_sizes({.collective = collective, .count = 10, .root = 1}, rank, 3);
    return std::pair(found.in_elements, found.out_elements);
  };
  using Sizes = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(sizes(Collective::all_reduce, 0), Sizes(10, 10));
  EXPECT_EQ(sizes(Collective::all_gather, 0), Sizes(10, 30));
  EXPECT_EQ(sizes(Collective::reduce_scatter, 2), Sizes(30, 10));
  EXPECT_EQ(sizes(Collective::gather, 1), Sizes(10, 30));
  EXPECT_EQ(sizes(Collective::gather, 0), Sizes(10, 0));
  EXPECT_EQ(sizes(Collective::scatter, 0), Sizes(0, 10));
  EXPECT_EQ(sizes(Collective::broadcast, 1), Sizes(10, 10));
  EXPECT_EQ(sizes(Collective::all_to_all, 1), Sizes(30, 30));
  EXPECT_EQ(sizes(Collective::barrier, 1), Sizes(0, 0));
  EXPECT_EQ(validate_counts({.count = ~0ull}, 3).code(), Code::invalid_argument);
}

TEST(DecisionCache, FindsWhatItHasAndForgetsNowAndThen) {
  DecisionCache cache;
  engine::Workspace workspace;
  const DecisionContext context = context_of(2, 0, true);
  for (std::uint64_t count = 0; count < DecisionCache::kLimit + 2; ++count) {
    const Call call{.count = count};
    EXPECT_EQ(cache.find(key_of(call)), nullptr);
    const auto added = cache.add(context, call, workspace);
    ASSERT_TRUE(added.is_ok()) << added.status().text();
    EXPECT_EQ(cache.find(key_of(call)), *added);
  }
  EXPECT_EQ(cache.find(key_of(Call{.count = 5})), nullptr) << "a program that never repeats a size fills no memory";
}

}  // namespace
}  // namespace tutti::comm

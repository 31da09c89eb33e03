#include "comm/layout.h"

#include <gtest/gtest.h>

#include "comm/decision.h"

namespace tutti::comm {
namespace {

using plan::Collective;

TEST(SideLayout, ThePartsOfACommunicatorFitTheRoomThatIsTakenBeforeTheyAreKnown) {
  for (const Rank ranks : {1, 2, 3, 5, 8, 13, 64, 129}) {
    const std::size_t least = SideLayout::least_limit_bytes(ranks);
    for (const std::size_t limit : {std::size_t{0}, least, least + (1 << 20), least + (64 << 20)}) {
      const auto room = SideLayout::room_bytes(limit, ranks);
      ASSERT_TRUE(room.is_ok()) << room.status().text();
      for (Rank part = 1; part <= ranks; ++part) {
        const auto layout = SideLayout::within(limit, part, ranks);
        ASSERT_TRUE(layout.is_ok()) << layout.status().text();
        EXPECT_LE(layout->bytes(), *room) << part << " of " << ranks << " ranks, limit " << limit;
        if (limit == 0) continue;
        const std::size_t beside =
            layout->collective_private_bytes_max + 2 * static_cast<std::size_t>(part) * layout->pair_private_bytes_max;
        EXPECT_LE(*room + beside, limit) << part << " of " << ranks << " ranks";
      }
    }
  }
}

TEST(SideLayout, ALimitThatIsLargeEnoughChangesNoBlock) {
  for (const Rank ranks : {2, 8, 64}) {
    const auto layout = SideLayout::within(64 << 20, ranks);
    ASSERT_TRUE(layout.is_ok());
    EXPECT_EQ(layout->bytes(), SideLayout(ranks).bytes());
  }
}

TEST(SideLayout, ALimitThatIsTooSmallNamesWhatIsNeeded) {
  const std::size_t least = SideLayout::least_limit_bytes(8);
  EXPECT_TRUE(SideLayout::within(least, 8).is_ok());
  const auto refused = SideLayout::within(least - 1, 8);
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), Code::out_of_memory);
  EXPECT_NE(refused.status().text().find("raise it to " + std::to_string(least)), std::string::npos)
      << refused.status().text();
  EXPECT_LT(least, SideLayout(8).bytes() / 3) << "a limit that saves nothing is of no use";
}

DecisionContext context_of(const SideLayout& layout, Rank self, bool is_one_process) {
  DecisionContext context;
  context.self = self;
  context.is_one_process = is_one_process;
  context.is_host_one_process = is_one_process;
  context.machine.ranks = layout.ranks;
  context.machine.cores = 8;
  context.machine.flash_bytes = layout.ranks > 1 ? transport::kFlashBytesMax : 0;
  context.machine.outbox_bytes = layout.collective.outbox_bytes;
  context.launch.outbox_bytes = layout.collective.outbox_bytes;
  context.launch.tile_bytes_max = layout.tile_bytes_max;
  context.private_bytes_max = layout.collective_private_bytes_max;
  return context;
}

TEST(SideLayout, EveryCollectiveRunsUnderTheSmallestLimit) {
  for (const Rank ranks : {1, 2, 3, 4, 7, 8, 16, 33, 64}) {
    const auto layout = SideLayout::within(SideLayout::least_limit_bytes(ranks), ranks);
    ASSERT_TRUE(layout.is_ok()) << layout.status().text();
    for (const Rank self : {0, ranks - 1}) {
      for (const bool is_one_process : {true, false}) {
        const DecisionContext context = context_of(*layout, self, is_one_process);
        DecisionCache decisions;
        engine::Workspace workspace;
        for (const Collective collective : plan::kCollectives) {
          if (collective == Collective::send_receive) continue;
          for (const std::uint64_t count : {1, 300, 5000, 3 << 20}) {
            const Call call{.collective = collective, .count = count};
            const auto added = decisions.add(context, call, workspace);
            ASSERT_TRUE(added.is_ok()) << describe(call) << " over " << ranks << ": " << added.status().text();
            EXPECT_LE(decisions.bytes() + workspace.bytes(), context.private_bytes_max);
          }
        }
      }
    }
  }
}

TEST(SideLayout, AMessageRunsUnderTheSmallestLimit) {
  for (const Rank ranks : {2, 8, 64}) {
    const auto layout = SideLayout::within(SideLayout::least_limit_bytes(ranks), ranks);
    ASSERT_TRUE(layout.is_ok()) << layout.status().text();
    for (const bool is_one_process : {true, false}) {
      DecisionContext context = context_of(*layout, 0, is_one_process);
      context.machine.ranks = 2;
      context.machine.flash_bytes = 0;
      context.machine.outbox_bytes = context.launch.outbox_bytes = layout->pair.outbox_bytes;
      context.private_bytes_max = layout->pair_private_bytes_max;
      DecisionCache decisions;
      engine::Workspace workspace;
      for (const std::uint64_t count : {1, 300, 5000, 3 << 20}) {
        const Call call{.collective = Collective::send_receive, .count = count, .root = 0, .peer = 1};
        const auto added = decisions.add(context, call, workspace, 4096);
        ASSERT_TRUE(added.is_ok()) << added.status().text();
        EXPECT_LE(decisions.bytes() + workspace.bytes() + 4096, context.private_bytes_max);
      }
    }
  }
}

}  // namespace
}  // namespace tutti::comm

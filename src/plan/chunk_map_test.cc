#include "tutti/chunk_map.h"

#include <gtest/gtest.h>

namespace tutti::plan {
namespace {

// Chunks in a row that cover [0, elements) without gap or overlap.
void expect_partition(const Layout& layout, std::uint64_t elements) {
  std::uint64_t next = 0;
  for (std::uint32_t chunk = 0; chunk < layout.chunk_count(); ++chunk) {
    const Extent extent = layout.of(chunk);
    EXPECT_EQ(extent.offset, next);
    next += extent.elements;
  }
  EXPECT_EQ(next, elements);
  EXPECT_EQ(layout.end(), elements);
}

TEST(ChunkMap, EvenChunksDifferByAtMostOneElementLargerFirst) {
  for (const std::uint64_t elements : {0, 1, 3, 4, 10, 1000, 1001}) {
    for (const std::uint32_t chunks : {1u, 3u, 4u, 7u}) {
      const Layout layout = Layout::even(elements, chunks);
      expect_partition(layout, elements);
      EXPECT_LE(layout.of(0).elements - layout.of(chunks - 1).elements, 1u);
    }
  }
}

TEST(ChunkMap, AlignedBoundariesAreMultiples) {
  const Layout layout = Layout::even(1000, 7, 16);
  expect_partition(layout, 1000);
  for (std::uint32_t chunk = 0; chunk < 7; ++chunk) EXPECT_EQ(layout.of(chunk).offset % 16, 0u);
}

TEST(ChunkMap, BlocksAreDividedIntoParts) {
  const Layout layout = Layout::blocks(3, 10, 4);
  expect_partition(layout, 30);
  EXPECT_EQ(layout.of(4), (Extent{10, 3}));
  EXPECT_EQ(layout.of(7), (Extent{18, 2}));
}

TEST(ChunkMap, VariableBlocksMayBeEmptyAndAnywhere) {
  const Layout layout = Layout::variable({{100, 3}, {7, 0}, {20, 5}}, 2);
  EXPECT_EQ(layout.of(0), (Extent{100, 2}));
  EXPECT_EQ(layout.of(1), (Extent{102, 1}));
  EXPECT_EQ(layout.of(2).elements, 0u);
  EXPECT_EQ(layout.of(5), (Extent{23, 2}));
  EXPECT_EQ(layout.end(), 103u);
}

TEST(ChunkMap, AllToAllMapsAgreeOnWhatTravels) {
  Header plan;
  plan.collective = Collective::all_to_all;
  plan.ranks = 3;
  plan.chunks = 6;
  const auto maps = variable_maps(plan, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  ASSERT_TRUE(maps.is_ok());
  for (std::uint32_t from = 0; from < 3; ++from) {
    for (std::uint32_t to = 0; to < 3; ++to) {
      for (std::uint32_t part = 0; part < 2; ++part) {
        EXPECT_EQ((*maps)[from].in.of(to * 2 + part).elements, (*maps)[to].out.of(from * 2 + part).elements);
      }
    }
  }
}

TEST(ChunkMap, WrongCountsAreRefused) {
  Header plan;
  plan.collective = Collective::all_gather;
  plan.ranks = 3;
  plan.chunks = 3;
  EXPECT_EQ(variable_maps(plan, {1, 2}).status().text(), "all_gather over 3 ranks takes 3 counts, not 2");
  EXPECT_FALSE(variable_maps(plan, {1ull << 63, 1ull << 63, 1}).is_ok());
  plan.collective = Collective::broadcast;
  EXPECT_EQ(variable_maps(plan, {1, 2, 3}).status().text(), "broadcast has no variable-count form");
}

}  // namespace
}  // namespace tutti::plan

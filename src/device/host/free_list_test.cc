#include "device/host/free_list.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "base/random.h"

namespace tutti::device {
namespace {

constexpr std::uint64_t kBytes = 1 << 20;

TEST(FreeList, TakesTheSmallestPartThatFits) {
  FreeList list(kBytes);
  const auto first = list.take(4096, 64);
  const auto wall = list.take(64, 64);
  const auto second = list.take(1024, 64);
  const auto last = list.take(64, 64);
  ASSERT_TRUE(first && wall && second && last);
  list.give(*first, 4096);
  list.give(*second, 1024);
  EXPECT_EQ(list.take(512, 64), second);
  EXPECT_EQ(list.take(2048, 64), first);
}

TEST(FreeList, AlignsAndKeepsWhatItSkips) {
  FreeList list(kBytes);
  ASSERT_EQ(list.take(64, 64), 0u);
  EXPECT_EQ(list.take(4096, 4096), 4096u);
  EXPECT_EQ(list.take(4096 - 64, 64), 64u) << "the part in front is still there";
  EXPECT_EQ(list.free_bytes(), kBytes - 2 * 4096);
}

TEST(FreeList, PiecesJoinWithBothNeighbours) {
  FreeList list(3 * 64);
  ASSERT_EQ(list.take(64, 64), 0u);
  ASSERT_EQ(list.take(64, 64), 64u);
  ASSERT_EQ(list.take(64, 64), 128u);
  EXPECT_EQ(list.take(64, 64), std::nullopt);
  list.give(0, 64);
  list.give(128, 64);
  EXPECT_EQ(list.largest_bytes(), 64u);
  list.give(64, 64);
  EXPECT_EQ(list.largest_bytes(), 192u);
}

TEST(FreeListDeathTest, APieceGivenTwiceStopsTheProcess) {
  FreeList list(kBytes);
  ASSERT_EQ(list.take(64, 64), 0u);
  list.give(0, 64);
  EXPECT_DEATH(list.give(0, 64), "given back once");
}

TEST(FreeList, RandomPiecesNeverOverlapAndAllComeBack) {
  const char* const given = std::getenv("TUTTI_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
  SCOPED_TRACE(seed);
  struct Piece {
    std::uint64_t offset;
    std::uint64_t bytes;
  };
  Random random(seed);
  FreeList list(kBytes);
  std::vector<Piece> pieces;
  std::vector<bool> taken(kBytes / 64);
  const auto mark = [&](Piece piece, bool value) {
    for (std::uint64_t line = piece.offset / 64; line < (piece.offset + piece.bytes) / 64; ++line) {
      ASSERT_NE(taken[line], value);
      taken[line] = value;
    }
  };
  for (int i = 0; i < 20000; ++i) {
    if (random.below(2) == 0) {
      const std::uint64_t bytes = 64 * (1 + random.below(random.below(8) == 0 ? 1024 : 16));
      const std::uint64_t alignment = std::uint64_t{64} << random.below(8);
      const auto offset = list.take(bytes, alignment);
      if (!offset) continue;
      ASSERT_EQ(*offset % alignment, 0u);
      ASSERT_LE(*offset + bytes, kBytes);
      pieces.push_back({*offset, bytes});
      mark(pieces.back(), true);
    } else if (!pieces.empty()) {
      std::swap(pieces[random.below(pieces.size())], pieces.back());
      mark(pieces.back(), false);
      list.give(pieces.back().offset, pieces.back().bytes);
      pieces.pop_back();
    }
  }
  for (const Piece piece : pieces) list.give(piece.offset, piece.bytes);
  EXPECT_EQ(list.largest_bytes(), kBytes);
  EXPECT_EQ(list.free_bytes(), kBytes);
}

}  // namespace
}  // namespace tutti::device

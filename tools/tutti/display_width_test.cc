#include "tools/tutti/display_width.h"

#include <gtest/gtest.h>

namespace tutti::tool {
namespace {

TEST(DisplayWidth, CountsColumnsAndNotBytes) {
  EXPECT_EQ(width_of(""), 0u);
  EXPECT_EQ(width_of("gpu12"), 5u);
  EXPECT_EQ(width_of("büro"), 4u);
  EXPECT_EQ(width_of("計算"), 4u);
  EXPECT_EQ(width_of("e\u0301"), 1u) << "a mark upon a letter";
  EXPECT_EQ(width_of("\U0001f680"), 2u);
}

TEST(DisplayWidth, ShowsNothingThatMovesTheCursor) {
  EXPECT_EQ(printable("a\x1b[2Jb\n\tc\x7f"), "a?[2Jb??c?");
  EXPECT_EQ(printable("\xff\xc3"), "??");
  EXPECT_EQ(printable("\xc0\xaf"), "??") << "a longer form than needed";
  EXPECT_EQ(printable("\xed\xa0\x80"), "???") << "half of a pair";
  EXPECT_EQ(printable("\u202egpu"), "?gpu") << "would turn the line around";
  EXPECT_EQ(printable("büro 計算"), "büro 計算");
}

TEST(DisplayWidth, FillsAndCutsToTheColumn) {
  EXPECT_EQ(fitted("ab", 4), "ab  ");
  EXPECT_EQ(fitted("ab", 4, Side::right), "  ab");
  EXPECT_EQ(fitted("abcdef", 4), "abc~");
  EXPECT_EQ(fitted("計算機", 4), "計~ ") << "half a letter is a blank";
  EXPECT_EQ(cut("abc", 0), "");
  EXPECT_EQ(cut("abc", 3), "abc");
  for (std::size_t width = 0; width < 12; ++width) {
    EXPECT_EQ(width_of(fitted("a計é\x1b算機b", width)), width);
  }
}

}  // namespace
}  // namespace tutti::tool

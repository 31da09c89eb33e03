#include "launch/output/tags.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tutti::launch {
namespace {

TEST(Tags, AreAsWideAsTheLargestRank) {
  EXPECT_EQ(tag_text(Tag::rank, false, 3, 4, Stream::out), "[3] ");
  EXPECT_EQ(tag_text(Tag::rank, false, 3, 10, Stream::err), "[3] ");
  EXPECT_EQ(tag_text(Tag::rank, false, 3, 11, Stream::out), "[ 3] ");
  EXPECT_EQ(tag_text(Tag::rank, false, 10, 11, Stream::out), "[10] ");
  EXPECT_EQ(tag_text(Tag::rank, false, 7, 1001, Stream::out), "[   7] ");
}

TEST(Tags, SpeakOpenMpi) {
  EXPECT_EQ(tag_text(Tag::open_mpi, false, 3, 11, Stream::out), "[1,3]<stdout>:");
  EXPECT_EQ(tag_text(Tag::open_mpi, false, 3, 11, Stream::err), "[1,3]<stderr>:");
}

TEST(Tags, MayBeMissing) { EXPECT_EQ(tag_text(Tag::none, true, 3, 11, Stream::out), ""); }

TEST(Tags, HaveAColourThatEndsWithThem) {
  EXPECT_EQ(tag_text(Tag::rank, true, 0, 4, Stream::out), "\033[38;5;32m[0]\033[0m ");
  EXPECT_NE(tag_text(Tag::rank, true, 0, 4, Stream::out).substr(0, 10),
            tag_text(Tag::rank, true, 1, 4, Stream::out).substr(0, 10));
}

// Of a colour of the cube of 6 x 6 x 6 in the palette of 256, as the guidelines for accessible pages define it.
double luminance(int colour) {
  constexpr std::array<double, 6> kSteps = {0, 95, 135, 175, 215, 255};
  const auto linear = [&](int step) {
    const double share = kSteps[static_cast<std::size_t>(step)] / 255;
    return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
  };
  const int place = colour - 16;
  return 0.2126 * linear(place / 36) + 0.7152 * linear(place / 6 % 6) + 0.0722 * linear(place % 6);
}

TEST(Tags, CanBeReadOnBlackAndOnWhite) {
  constexpr double kContrastMin = 3;
  for (const int colour : rank_palette()) {
    SCOPED_TRACE(colour);
    ASSERT_TRUE(colour >= 16 && colour < 232);
    EXPECT_GE((luminance(colour) + 0.05) / 0.05, kContrastMin);
    EXPECT_GE(1.05 / (luminance(colour) + 0.05), kContrastMin);
  }
}

TEST(Tags, AreColouredOnTerminalsUnlessTheUserSaysOtherwise) {
  const ColourFacts terminal{.is_terminal = true, .no_colour = "", .terminal = "xterm"};
  EXPECT_TRUE(wants_colour(Colour::automatic, terminal));
  EXPECT_FALSE(wants_colour(Colour::never, terminal));
  EXPECT_FALSE(wants_colour(Colour::automatic, {.is_terminal = false, .no_colour = "", .terminal = "xterm"}));
  EXPECT_TRUE(wants_colour(Colour::always, {.is_terminal = false, .no_colour = "1", .terminal = "dumb"}));
  EXPECT_FALSE(wants_colour(Colour::automatic, {.is_terminal = true, .no_colour = "1", .terminal = "xterm"}));
  EXPECT_FALSE(wants_colour(Colour::automatic, {.is_terminal = true, .no_colour = "", .terminal = "dumb"}));
  EXPECT_FALSE(wants_colour(Colour::automatic, {.is_terminal = true, .no_colour = "", .terminal = ""}));
}

}  // namespace
}  // namespace tutti::launch

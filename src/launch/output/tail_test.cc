#include "launch/output/tail.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text.h"

namespace tutti::launch {
namespace {

using Strings = std::vector<std::string>;

TEST(Tail, HasTheLastTwentyLines) {
  Tail tail;
  Strings expected;
  for (int line = 0; line < 50; ++line) {
    tail.take(Stream::err, std::to_string(line) + "\n");
    if (line >= 30) expected.push_back(std::to_string(line));
  }
  EXPECT_EQ(tail.lines(), expected);
}

TEST(Tail, OfNothingIsEmpty) { EXPECT_EQ(Tail().lines(), Strings{}); }

TEST(Tail, PrefersStderr) {
  Tail tail;
  tail.take(Stream::out, "out\n");
  EXPECT_EQ(tail.lines(), Strings{"out"});
  tail.take(Stream::err, "err\n");
  tail.take(Stream::out, "more\n");
  EXPECT_EQ(tail.lines(), Strings{"err"});
}

TEST(Tail, HasTheLineThatHasNotEnded) {
  Tail tail;
  tail.take(Stream::err, "a\nb");
  EXPECT_EQ(tail.lines(), (Strings{"a", "b"}));
}

TEST(Tail, CutsLongLines) {
  Tail tail;
  tail.take(Stream::err, std::string(1000, 'x') + "\nshort\n");
  EXPECT_EQ(tail.lines(), (Strings{std::string(Tail::kLineBytesMax, 'x') + "...", "short"}));
}

TEST(Tail, CutsBetweenCharacters) {
  Tail tail;
  std::string line = "x";
  while (line.size() < 2 * Tail::kLineBytesMax) line += "\u00e4";
  tail.take(Stream::err, line);
  EXPECT_EQ(tail.lines(), Strings{line.substr(0, Tail::kLineBytesMax - 1) + "..."});
}

TEST(Tail, OfOneEndlessLineIsItsEnd) {
  Tail tail;
  for (int piece = 0; piece < 100; ++piece) tail.take(Stream::err, std::string(1000, 'x'));
  tail.take(Stream::err, "the end");
  ASSERT_EQ(tail.lines().size(), 1u);
  EXPECT_TRUE(tail.lines()[0].starts_with("...xxx"));
  EXPECT_TRUE(tail.lines()[0].ends_with("xxxthe end"));
  EXPECT_EQ(tail.lines()[0].size(), 3 + Tail::kLineBytesMax);
}

TEST(Tail, LeavesOutALineWithoutABeginning) {
  Tail tail;
  tail.take(Stream::err, std::string(3 * Tail::kBytesMax, 'x') + "\nwhole\n");
  EXPECT_EQ(tail.lines(), Strings{"whole"});
}

TEST(Tail, HasNeitherColoursNorBars) {
  Tail tail;
  tail.take(Stream::err, "\r 10%\r 20%\n\033[31mred\033[0m\a\tx\r\n\033]0;title\atext\033");
  EXPECT_EQ(tail.lines(), (Strings{" 20%", "red\tx", "text"}));
}

// In whatever pieces the bytes come, and however many: those that are short enough are kept to the letter.
TEST(Tail, DoesNotDependOnHowLinesCome) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Tail tail;
    std::string all;
    for (std::uint64_t line = 1 + random.below(200); line > 0; --line)
      all += std::string(random.below(Tail::kLineBytesMax), static_cast<char>('a' + random.below(26))) + "\n";
    for (std::size_t begin = 0; begin < all.size();) {
      const std::size_t length = 1 + random.below(random.below(2) == 0 ? 100 : 20000);
      tail.take(Stream::err, std::string_view(all).substr(begin, length));
      begin += length;
    }
    const auto parts = text::split(std::string_view(all).substr(0, all.size() - 1), '\n');
    const std::size_t count = std::min(parts.size(), Tail::kLinesMax);
    EXPECT_EQ(tail.lines(), Strings(parts.end() - static_cast<std::ptrdiff_t>(count), parts.end()));
  }
}

}  // namespace
}  // namespace tutti::launch

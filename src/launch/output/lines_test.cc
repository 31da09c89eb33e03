#include "launch/output/lines.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace tutti::launch {
namespace {

constexpr std::size_t kLimit = 1000;
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

// What appears when the pieces come one after the other, a tenth of a second apart.
std::string shown(Company company, const std::vector<std::string>& pieces, std::string_view mark = "[3] ") {
  Lines lines(company, kLimit);
  std::string text;
  Time now{kNsPerSecond};
  for (const std::string& piece : pieces) {
    lines.take(piece, mark, now, text);
    now.ns += kNsPerSecond / 10;
  }
  lines.end(mark, text);
  return text;
}

TEST(Lines, AreMarkedEach) { EXPECT_EQ(shown(Company::shared, {"a\n\nb\n"}), "[3] a\n[3] \n[3] b\n"); }

TEST(Lines, AppearWhenTheyHaveEnded) {
  Lines lines(Company::shared, kLimit);
  std::string text;
  lines.take("a\nhal", "[3] ", {}, text);
  EXPECT_EQ(text, "[3] a\n");
  lines.take("f", "[3] ", {}, text);
  EXPECT_EQ(text, "[3] a\n");
  EXPECT_TRUE(lines.is_within_line());
  lines.take("\nb\n", "[3] ", {}, text);
  EXPECT_EQ(text, "[3] a\n[3] half\n[3] b\n");
  EXPECT_FALSE(lines.is_within_line());
}

TEST(Lines, TheLastOneGetsAnEnd) {
  EXPECT_EQ(shown(Company::shared, {"a\nb"}), "[3] a\n[3] b\n");
  EXPECT_EQ(shown(Company::alone, {"a\nb"}), "[3] a\n[3] b\n");
  EXPECT_EQ(shown(Company::shared, {"a\n"}), "[3] a\n");
  EXPECT_EQ(shown(Company::shared, {}), "");
}

TEST(Lines, WithoutEndAreCutAtTheLimit) {
  const std::string text = shown(Company::shared, {std::string(kLimit + 1, 'x'), "y\n"});
  EXPECT_EQ(text, "[3] " + std::string(kLimit, 'x') + "\n[3] x\n[3] y\n");
}

TEST(Lines, ThatAreTooLongAreCutWhereTheyComeWholeToo) {
  EXPECT_EQ(shown(Company::shared, {std::string(kLimit + 1, 'x') + "\n"}),
            "[3] " + std::string(kLimit, 'x') + "\n[3] x\n");
}

TEST(Lines, OfWindowsAreLines) { EXPECT_EQ(shown(Company::shared, {"a\r\nb\r", "\nc\r\n"}), "[3] a\n[3] b\n[3] c\n"); }

TEST(Lines, ColoursEndWithTheLine) {
  EXPECT_EQ(shown(Company::shared, {"\033[31mred\nplain\n"}), "[3] \033[31mred\033[0m\n[3] plain\n");
  EXPECT_EQ(shown(Company::shared, {"\033[31mred\033[0m\n"}), "[3] \033[31mred\033[0m\n");
}

TEST(Lines, ABarWithinALineShowsItsLastStateOnly) {
  EXPECT_EQ(shown(Company::shared, {"\r 10%\r 50%\r100%\nnext\n"}), "[3] 100%\n[3] next\n");
  EXPECT_EQ(shown(Company::shared, {"10%\r50%\r100%\r\n"}), "[3] 100%\n");
}

TEST(Lines, ABarThatGoesOnIsShownOnceASecond) {
  std::vector<std::string> pieces;
  for (int step = 0; step < 25; ++step) pieces.push_back("\r" + std::to_string(step));
  // The first state is whole when the second begins; what comes at 24 is the last word.
  EXPECT_EQ(shown(Company::shared, pieces), "[3] 0\n[3] 10\n[3] 20\n[3] 24\n");
}

TEST(Lines, ABarWithReturnsAtTheEndIsShownOnceASecondAndAtTheEnd) {
  std::vector<std::string> pieces;
  for (int step = 0; step < 15; ++step) pieces.push_back(std::to_string(step) + "\r");
  EXPECT_EQ(shown(Company::shared, pieces), "[3] 0\n[3] 10\n[3] 14\n");
}

TEST(Lines, TheEndOfABarThatWasShownIsNoLine) {
  EXPECT_EQ(shown(Company::shared, {"100%\r", "\n", "next\n"}), "[3] 100%\n[3] next\n");
  EXPECT_EQ(shown(Company::shared, {"100%\r", "\n\n"}), "[3] 100%\n[3] \n");
}

TEST(Lines, AloneWithoutAMarkPassOnEveryByte) {
  const std::vector<std::string> pieces = {"name? ", "\r 10%", "\r 20%\r\n", "\033[31mred\nblack\033[0m\n"};
  std::string all;
  for (const std::string& piece : pieces) all += piece;
  EXPECT_EQ(shown(Company::alone, pieces, ""), all);
}

TEST(Lines, AloneHaveTheMarkWhereverTheCursorIsAtTheLeft) {
  EXPECT_EQ(shown(Company::alone, {"name? ", "yes\n", "\r 10%", "\r 20%\r", "\n", "x\r\n"}),
            "[3] name? yes\n[3] \r[3]  10%\r[3]  20%\r\n[3] x\r\n");
}

// However the bytes are cut into pieces, text without bars looks the same.
TEST(Lines, DoNotDependOnHowTheyCome) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::string all;
    for (std::uint64_t length = random.below(300); length > 0; --length) all += "ab\n\033"[random.below(4)];
    std::vector<std::string> pieces;
    for (std::size_t begin = 0; begin < all.size();) {
      pieces.push_back(all.substr(begin, 1 + random.below(40)));
      begin += pieces.back().size();
    }
    EXPECT_EQ(shown(Company::shared, pieces), shown(Company::shared, {all}));
    EXPECT_EQ(shown(Company::alone, pieces), shown(Company::alone, {all}));
  }
}

// Bars included, whole lines come out, each with its mark, and nothing is kept beyond the limit.
TEST(Lines, AreAlwaysWholeAndMarked) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Lines lines(Company::shared, 50);
    std::string text;
    for (int piece = 0; piece < 40; ++piece) {
      std::string bytes;
      for (std::uint64_t length = random.below(60); length > 0; --length) bytes += "abcde\r\n\033"[random.below(8)];
      lines.take(bytes, "#", {random.next()}, text);
      ASSERT_TRUE(text.empty() || text.ends_with('\n'));
    }
    lines.end("#", text);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      const std::string_view line = std::string_view(text).substr(begin, end - begin);
      ASSERT_TRUE(line.starts_with('#'));
      ASSERT_EQ(line.find('\r'), std::string_view::npos);
      ASSERT_LE(line.size(), 1 + 50 + 4u);
      begin = end + 1;
    }
  }
}

}  // namespace
}  // namespace tutti::launch

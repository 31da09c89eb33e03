#include "tools/tutti/top/screen.h"

#include <gtest/gtest.h>

#include "tools/tutti/top/keys.h"

namespace tutti::tool::top {
namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(TopScreen, WritesOnlyWhatHasChanged) {
  Screen screen;
  const Size size{20, 3};
  const std::string all = screen.draw({{"one"}, {"two", Look::heading}}, size);
  EXPECT_EQ(all,
            "\x1b[?2026h"
            "\x1b[1;1Hone\x1b[K"
            "\x1b[2;1H\x1b[7mtwo\x1b[0m\x1b[K"
            "\x1b[3;1H\x1b[K"
            "\x1b[?2026l");
  EXPECT_EQ(screen.draw({{"one"}, {"two", Look::heading}}, size), "");
  EXPECT_EQ(screen.draw({{"one"}, {"TWO"}}, size), "\x1b[?2026h\x1b[2;1HTWO\x1b[K\x1b[?2026l");
  EXPECT_EQ(screen.draw({{"one"}}, size), "\x1b[?2026h\x1b[2;1H\x1b[K\x1b[?2026l") << "what is gone is cleared";
}

TEST(TopScreen, NeverClearsTheWholeScreen) {
  Screen screen;
  std::string all = screen.draw({{"one"}}, {20, 3});
  all += screen.draw({{"two"}}, {30, 5});
  screen.forget();
  all += screen.draw({{"two"}}, {30, 5});
  EXPECT_FALSE(has(all, "\x1b[2J") || has(all, "\x1b[J") || has(all, "\x1b[H\x1b[J"));
}

TEST(TopScreen, DrawsEverythingAgainAfterAnotherSizeOrWhenToldTo) {
  Screen screen;
  screen.draw({{"one"}}, {20, 3});
  EXPECT_TRUE(has(screen.draw({{"one"}}, {10, 2}), "one"));
  EXPECT_EQ(screen.draw({{"one"}}, {10, 2}), "");
  screen.forget();
  EXPECT_TRUE(has(screen.draw({{"one"}}, {10, 2}), "one"));
}

TEST(TopScreen, LeavesTheLastLetterOfAFullRow) {
  Screen screen;
  EXPECT_EQ(screen.draw({{"12345"}}, {5, 1}), "\x1b[?2026h\x1b[1;1H12345\x1b[?2026l");
  EXPECT_EQ(screen.draw({{"123456"}}, {5, 1}), "\x1b[?2026h\x1b[1;1H1234~\x1b[?2026l");
}

TEST(TopKeys, AreTakenFromWhatATerminalSends) {
  std::string typed = "rc\x1b[B\x1b[5~xq";
  EXPECT_EQ(take_keys(typed), (std::vector{Key::by_rank, Key::by_cpu, Key::down, Key::page_up, Key::quit}));
  EXPECT_EQ(typed, "");
}

TEST(TopKeys, WaitForTheRestOfASequence) {
  std::string typed = "m\x1b[";
  EXPECT_EQ(take_keys(typed), std::vector{Key::by_memory});
  EXPECT_EQ(typed, "\x1b[");
  typed += "6~w";
  EXPECT_EQ(take_keys(typed), (std::vector{Key::page_down, Key::by_waiting}));
}

TEST(TopKeys, PassOverWhatTheyDoNotKnow) {
  std::string typed = "\x1b[1;5Cq";
  EXPECT_EQ(take_keys(typed), std::vector{Key::quit}) << "C of an unknown sequence is no key";
  typed = "\x1b[" + std::string(100, '1') + "q";
  take_keys(typed);
  EXPECT_EQ(typed, "");
}

}  // namespace
}  // namespace tutti::tool::top

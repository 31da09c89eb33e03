#include "base/log.h"

#include <gtest/gtest.h>

#include <vector>

namespace tutti {
namespace {

std::vector<std::string> lines;
void keep(std::string_view line) { lines.emplace_back(line); }

class Log : public testing::Test {
 protected:
  void SetUp() override { lines.clear(); }
  void TearDown() override { log::install(nullptr, LogLevel::error); }
};

TEST_F(Log, SaysNothingBeforeASinkIsThere) {
  EXPECT_FALSE(log::is_on(LogLevel::error));
  log::write(LogLevel::error, 0, "lost");
  log::install(keep, LogLevel::info);
  log::install(nullptr, LogLevel::debug);
  log::write(LogLevel::error, 0, "lost");
  EXPECT_TRUE(lines.empty());
}

TEST_F(Log, WritesLinesUpToItsLevel) {
  log::install(keep, LogLevel::warning);
  log::write(LogLevel::error, 3, "rank 5 has died");
  log::write(LogLevel::warning, kNoRank, "TUTTI_LOG counts");
  log::write(LogLevel::info, 3, "eth0 chosen");
  const std::vector<std::string> expected = {"tutti: [3] error: rank 5 has died\n",
                                             "tutti: warning: TUTTI_LOG counts\n"};
  EXPECT_EQ(lines, expected);
}

TEST_F(Log, MakesNoTextThatNobodyReads) {
  int made = 0;
  const auto text = [&] { return "text " + std::to_string(++made); };
  log::install(keep, LogLevel::info);
  log::write(LogLevel::debug, 0, text);
  EXPECT_EQ(made, 0);
  log::write(LogLevel::info, 0, text);
  EXPECT_EQ(lines, std::vector<std::string>{"tutti: [0] info: text 1\n"});
}

TEST_F(Log, AreasFilterInfoAndNeverWarnings) {
  log::install(keep, LogLevel::info);
  log::set_areas(LogAreas::of(LogArea::network));
  log::write(LogLevel::info, 0, LogArea::plans, "dropped");
  log::write(LogLevel::info, 0, LogArea::plans, [] { return std::string("dropped"); });
  log::write(LogLevel::info, 0, LogArea::network, "kept");
  log::write(LogLevel::warning, 0, LogArea::plans, "kept");
  log::write(LogLevel::info, 0, "kept");
  log::set_areas(LogAreas::all());
  const std::vector<std::string> expected = {"tutti: [0] info: kept\n", "tutti: [0] warning: kept\n",
                                             "tutti: [0] info: kept\n"};
  EXPECT_EQ(lines, expected);
}

TEST_F(Log, ALineIsOneLineWhateverItsText) {
  EXPECT_EQ(log::line_of(LogLevel::info, 0, "a\nb\x1b[31m"), "tutti: [0] info: a b [31m\n");
  const std::string line = log::line_of(LogLevel::info, 0, std::string(10000, 'x'));
  EXPECT_EQ(line.size(), log::kLineBytesMax);
  EXPECT_TRUE(line.ends_with("x...\n"));
}

}  // namespace
}  // namespace tutti

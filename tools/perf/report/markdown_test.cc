#include "tools/perf/report/markdown.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "tools/perf/report/invented_run_for_test.h"

namespace tutti::perf {
namespace {

std::vector<std::string_view> table_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (const std::string_view line : text::split(text, '\n')) {
    if (line.substr(0, 1) == "|") lines.push_back(line);
  }
  return lines;
}

std::size_t cells_of(std::string_view line) {
  std::size_t cells = 0;
  for (std::size_t i = 1; i < line.size(); ++i) cells += line[i] == '|' && line[i - 1] != '\\' ? 1 : 0;
  return cells;
}

TEST(ReportMarkdown, IsATableWithAsManyCellsInEveryLine) {
  perf::Run run = invented_run();
  run.rows[1].out_of_place.reset();
  run.rows[2].in_place->distribution.reset();
  run.rows[3].plan = "ring | tree";
  run.rows[4].estimate_us.reset();
  const std::string text = markdown_report(run);
  const auto table = table_of(text);
  ASSERT_EQ(table.size(), run.rows.size() + 2);
  for (const std::string_view line : table) EXPECT_EQ(cells_of(line), cells_of(table[0])) << line;
  EXPECT_NE(table.back().find("64 MiB"), std::string_view::npos);
}

TEST(ReportMarkdown, LeavesOutColumnsThatNothingStandsIn) {
  perf::Run run;
  run.rows.emplace_back().in_place.emplace();
  const std::string text = markdown_report(run);
  EXPECT_EQ(table_of(text)[0], "| size | count | type | op | root | in place µs | alg GB/s | bus GB/s | wrong |");
}

TEST(ReportMarkdown, ShowsTheCommandAsItCanBeRunAndTheVerdicts) {
  perf::Run run = invented_run();
  run.out_of_bounds = 3;
  run.bandwidth_reached = false;
  const std::string text = markdown_report(run);
  EXPECT_NE(text.find("\n./all_reduce_perf -b 8 -e 64M -f 2 -g 8 --name 'it'\\''s <here>'\n"), std::string::npos);
  EXPECT_NE(text.find("Out of bounds values: 3 ❌"), std::string::npos);
  EXPECT_NE(text.find("❌ less than was asked for"), std::string::npos);
}

TEST(ReportMarkdown, KeepsTextsFromBecomingMarkup) {
  perf::Run run;
  run.setup.processor = "[click](http://example.org) <b>";
  run.setup.command = {"```", "x"};
  run.remarks = {"two\nlines"};
  const std::string text = markdown_report(run);
  EXPECT_NE(text.find("\\[click\\](http://example.org) \\<b\\>"), std::string::npos);
  EXPECT_NE(text.find("````console\n'```' x\n````\n"), std::string::npos);
  EXPECT_NE(text.find("- two lines\n"), std::string::npos);
}

}  // namespace
}  // namespace tutti::perf

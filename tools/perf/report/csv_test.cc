#include "tools/perf/report/csv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tools/perf/report/invented_run_for_test.h"

namespace tutti::perf {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find("\r\n", begin)) != std::string::npos; begin = end + 2) {
    lines.push_back(text.substr(begin, end - begin));
  }
  EXPECT_EQ(begin, text.size()) << "every line ends";
  return lines;
}

std::ptrdiff_t commas(const std::string& line) { return std::count(line.begin(), line.end(), ','); }

TEST(ReportCsv, HasALineOfNamesAndOneForEachRowAndPlace) {
  perf::Run run = invented_run();
  run.rows[0].plan = "ring";
  run.rows.resize(2);
  run.rows[1].out_of_place.reset();
  run.rows[1].plan.reset();
  const auto lines = lines_of(csv_report(run));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].substr(0, 37), "size,count,type,redop,root,place,time");
  EXPECT_EQ(lines[1].substr(0, 30), "8,2,float,sum,-1,out_of_place,");
  EXPECT_EQ(lines[2].substr(0, 26), "8,2,float,sum,-1,in_place,");
  EXPECT_EQ(lines[3].substr(0, 27), "16,4,float,sum,-1,in_place,");
  for (const std::string& line : lines) EXPECT_EQ(commas(line), commas(lines[0])) << line;
}

TEST(ReportCsv, LeavesFieldsEmptyThatHaveNoValue) {
  perf::Run run;
  Row& row = run.rows.emplace_back();
  row.type = "float";
  row.operation = "none";
  row.in_place.emplace().time_us = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(lines_of(csv_report(run)).back(), "0,0,float,none,-1,in_place,,0,0,,,,,,,,,,,");
}

TEST(ReportCsv, QuotesWhatWouldBreakALine) {
  perf::Run run;
  Row& row = run.rows.emplace_back();
  row.plan = "a \"ring\", of\n4";
  row.out_of_place.emplace();
  const std::string text = csv_report(run);
  EXPECT_NE(text.find(",\"a \"\"ring\"\", of\n4\"\r\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace tutti::perf

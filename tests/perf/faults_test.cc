// Wrong data is found, whoever wrote it and wherever it lies.
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/perf/tool_run.h"

namespace tutti::perf {
namespace {

// A thread for each rank: a call is done when its function of faulty_nccl.cc spoils it.
const std::string kThreads = "-b 4K -e 4K -n 1 -w 0 -t 3 ";

void expect_found(const Ending& ending, const std::string& sentence) {
  EXPECT_EQ(ending.exit_code, 7) << ending.output;
  EXPECT_TRUE(std::regex_search(ending.output, std::regex(sentence))) << ending.output;
  EXPECT_TRUE(std::regex_search(ending.output, std::regex("# Out of bounds values : [1-9]\\d* FAILED")))
      << ending.output;
}

TEST(Faults, AreNotInventedByTheirHarness) { expect_right(faulty("", kThreads), 1); }

TEST(Faults, OneFlippedBitOfAResultIsFound) {
  const Ending ending = faulty("flip", kThreads);
  expect_found(ending,
               "rank 1, receive buffer, 4096 bytes out of place: element 512 of the buffer is .* instead of .*");
  const auto rows = rows_in(ending.output);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0][kWrong], "1");
  EXPECT_EQ(rows[0][kWrongInPlace], "1");
  EXPECT_TRUE(ending.says("4096 bytes in place: element 512")) << ending.output;
}

TEST(Faults, AByteWrittenBeforeABufferIsFound) {
  expect_found(faulty("before", kThreads),
               "rank 1, receive buffer, 4096 bytes out of place: a byte was written 1 bytes before the buffer begins");
}

TEST(Faults, AByteWrittenAfterABufferIsFound) {
  const Ending ending = faulty("after", kThreads);
  expect_found(ending,
               "rank 1, receive buffer, 4096 bytes out of place: a byte was written 1 bytes after the buffer ends");
  EXPECT_EQ(rows_in(ending.output).at(0)[kWrong], "0") << "no element is wrong";
}

TEST(Faults, AChangedInputIsFound) {
  expect_found(faulty("input", kThreads), "rank 1, send buffer, 4096 bytes out of place: element 0 of the buffer is");
}

TEST(Faults, ACallThatDoesNothingIsFoundOnEveryRank) {
  const Ending ending = faulty("skip", kThreads);
  for (const char* rank : {"0", "1", "2"})
    expect_found(ending,
                 std::string("rank ") + rank + ", receive buffer, .*element 0 of the buffer is .*, and 1023 more");
}

TEST(Faults, AreFoundInTheDataTypesOfOneByteToo) {
  const Ending ending = faulty("flip", "-b 4K -e 4K -n 1 -w 0 -t 3 -d f8e5m2 -o avg");
  EXPECT_TRUE(ending.exit_code == 7 || ending.exit_code == 0) << ending.output;  // its last bit is within the tolerance
  expect_found(faulty("skip", "-b 4K -e 4K -n 1 -w 0 -t 3 -d f8e5m2 -o avg"), "rank 1, receive buffer");
}

TEST(Faults, StandInTheFile) {
  const Folder folder;
  const Ending ending = faulty("flip", kThreads + "-J " + folder.file("x.json"));
  EXPECT_EQ(ending.exit_code, 7) << ending.output;
  const auto run = nlohmann::json::parse(content_of(folder.file("x.json")));
  EXPECT_EQ(run["out_of_bounds"]["okay"], false);
  EXPECT_EQ(run["results"][0]["out_of_place"]["nwrong"], 1);
  EXPECT_NE(run["remarks"].dump().find("rank 1, receive buffer"), std::string::npos) << run.dump();
}

TEST(Faults, AreNotSoughtWhereNobodyChecks) { EXPECT_EQ(faulty("flip", kThreads + "-c 0").exit_code, 0); }

}  // namespace
}  // namespace tutti::perf

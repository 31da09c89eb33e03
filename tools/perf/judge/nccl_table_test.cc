#include "tools/perf/judge/nccl_table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tools/perf/judge/series.h"

namespace tutti::perf {
namespace {

std::string log_text(const std::string& name) {
  std::ifstream file(std::string(TUTTI_SOURCE_DIR "/tools/perf/judge/data/") + name);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(file) << name;
  return text.str();
}

perf::Run parsed(std::string_view text) {
  auto run = parse_table(text);
  EXPECT_TRUE(run) << run.status().text();
  return run ? *run : perf::Run{};
}

TEST(NcclTable, ReadsALogOfEightDevices) {
  const perf::Run run = parsed(log_text("a100x8.log"));
  EXPECT_EQ(run.setup.program, "all_reduce_perf");
  EXPECT_EQ(run.setup.devices_per_thread, 8);
  EXPECT_EQ(run.setup.min_bytes, 64U);
  EXPECT_EQ(run.setup.max_bytes, 10737418240U);
  EXPECT_EQ(run.setup.step_factor, 2U);
  EXPECT_EQ(run.setup.step_bytes, 0U);
  EXPECT_EQ(run.setup.warmup_iterations, 5);
  EXPECT_EQ(run.setup.iterations, 20);
  EXPECT_EQ(run.setup.aggregated_iterations, 1);
  EXPECT_EQ(run.setup.checks, 1);
  EXPECT_EQ(run.setup.processes, 1);
  ASSERT_EQ(run.setup.seats.size(), 8U);
  EXPECT_EQ(run.setup.seats[3], (Seat{.rank = 3,
                                      .group = 0,
                                      .pid = 944,
                                      .host = "node0",
                                      .device = 3,
                                      .bus = "0x54",
                                      .name = "NVIDIA A100-SXM4-40GB"}));
  ASSERT_EQ(run.rows.size(), 28U);
  const Row& row = run.rows[14];
  EXPECT_EQ(row.bytes, 1048576U);
  EXPECT_EQ(row.count, 262144U);
  EXPECT_EQ(row.type, "float");
  EXPECT_EQ(row.operation, "sum");
  EXPECT_EQ(row.root, -1);
  EXPECT_EQ(row.out_of_place->time_us, 76.71);
  EXPECT_EQ(row.out_of_place->bus_gbps, 23.92);
  EXPECT_EQ(row.in_place->algorithm_gbps, 13.49);
  EXPECT_EQ(row.in_place->wrong, 0);
  EXPECT_EQ(run.out_of_bounds, 0);
  EXPECT_EQ(run.average_bus_gbps, 81.112);
  EXPECT_FALSE(run.bandwidth_reached);
  EXPECT_TRUE(run.remarks.empty());
}

TEST(NcclTable, CountsProcessesOfTwoHosts) {
  const perf::Run run = parsed(log_text("a100x16.log"));
  EXPECT_EQ(run.setup.processes, 16);
  EXPECT_EQ(rank_count(run), 16U);
  EXPECT_EQ(run.rows[20].out_of_place->time_us, 6058.5);
}

TEST(NcclTable, ReadsTheNewForm) {
  const perf::Run run = parsed(log_text("new_form.log"));
  EXPECT_EQ(run.setup.program, "all_gather_perf");
  EXPECT_EQ(run.setup.library, "NCCL 2.28.9");
  EXPECT_EQ(run.setup.library_version, 22809);
  EXPECT_EQ(run.setup.tool_version, "nccl-tests 2.19.6");
  EXPECT_EQ(run.setup.step_bytes, 1048576U);
  EXPECT_EQ(run.setup.seats[1].bus, "0000:15:00");
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_EQ(run.rows[0].operation, "none");
  EXPECT_FALSE(run.rows[0].in_place->wrong);
  EXPECT_EQ(run.rows[1].out_of_place->time_us, 1.3e5);
  EXPECT_EQ(run.rows[1].out_of_place->wrong, 2000000);
  EXPECT_EQ(run.out_of_bounds, 3);
  EXPECT_EQ(run.bandwidth_reached, false);
}

TEST(NcclTable, ReadsColumnsOfSingleIterations) {
  const perf::Run run = parsed(
      "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw busbw #wrong i_min "
      "i_max "
      "i_p99 i_cv%\n"
      "1024 256 float sum -1 10.0 0.1 0.2 0 9.0 12.0 12.0 3.5 11.0 0.1 0.2 0 9.5 13.0 13.0 4.5\n");
  EXPECT_EQ(run.rows[0].out_of_place->time_us, 10);
  EXPECT_EQ(run.rows[0].in_place->time_us, 11);
}

// Before there were groups and roots in every table; "error" is the largest difference, not a count.
TEST(NcclTable, ReadsTheOldestForm) {
  const perf::Run run = parsed(log_text("oldest_form.log"));
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_EQ(run.setup.library, "NCCL 2.8.4");
  EXPECT_EQ(run.setup.seats[1].host, "host-a");
  EXPECT_EQ(run.rows[0].root, -1);
  EXPECT_FALSE(run.rows[0].out_of_place->wrong);
  EXPECT_EQ(run.rows[1].in_place->time_us, 12.84);
}

TEST(NcclTable, TakesABlankOperationForNone) {
  const perf::Run run = parsed(
      "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
      "1024 64 float -1 10.0 0.1 0.2 0 11.0 0.1 0.2 0\n");
  EXPECT_EQ(run.rows[0].operation, "none");
  EXPECT_EQ(run.rows[0].root, -1);
}

// As a job script greps it: two lines of the header and the row, indented.
TEST(NcclTable, ReadsARowWithNothingButItsColumns) {
  const perf::Run run = parsed(R"(
   #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
   #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
   10737418240    2684354560     float     sum      -1    89649  119.77  224.57      0    89528  119.93  224.87      0
)");
  EXPECT_EQ(run.rows[0].in_place->bus_gbps, 224.87);
  EXPECT_EQ(run.setup.program, "");
  EXPECT_EQ(run.setup.processes, 0);
  EXPECT_FALSE(rank_count(run));
}

TEST(NcclTable, SkipsMarksOfLaunchersAndLinesOfOthers) {
  const perf::Run run = parsed(
      "[1,0]<stdout>:# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
      "node0:123:456 [0] NCCL INFO Channel 00\n"
      "[1,0]<stdout>:1024 256 float sum -1 10.0 0.1 0.2 0 11.0 0.1 0.2 0\n"
      "0: 2048 512 float sum -1 10.5 0.1 0.2 0 11.0 0.1 0.2 0\r\n"
      "17 files were written\n");
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_EQ(run.rows[1].out_of_place->time_us, 10.5);
  EXPECT_TRUE(run.remarks.empty());
}

TEST(NcclTable, RemarksOnRowsThatAreBroken) {
  const perf::Run run = parsed(
      "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
      "1024 256 float sum -1 10.0 0.1 0.2 0 11.0 0.1 0.2 0\n"
      "2048 512 float sum -1 10.0 0.1 0.2 0 11.0 0.1 node0: NCCL\n");
  EXPECT_EQ(run.rows.size(), 1U);
  ASSERT_EQ(run.remarks.size(), 1U);
  EXPECT_EQ(run.remarks[0], "line 3 looks like a row but does not fit the columns of its table; it is left out");
}

TEST(NcclTable, TakesOneGroupForInPlace) {
  const perf::Run run = parsed(
      "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
      "1024 256 float sum -1 10.0 0.1 0.2 0\n");
  EXPECT_FALSE(run.rows[0].out_of_place);
  EXPECT_EQ(run.rows[0].in_place->time_us, 10);
}

TEST(NcclTable, TellsRunsOfOneLogApart) {
  const std::string both = log_text("a100x8.log") + log_text("a100x16.log");
  const auto runs = parse_tables(both);
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 2U);
  EXPECT_EQ(rank_count((*runs)[0]), 8U);
  EXPECT_EQ(rank_count((*runs)[1]), 16U);
  EXPECT_EQ((*runs)[0].average_bus_gbps, 81.112);
  const auto one = parse_table(both);
  ASSERT_FALSE(one);
  EXPECT_EQ(one.status().text(), "there are 2 tables in it, at lines 15, 70; keep the one that is meant");
}

TEST(NcclTable, SaysWhatIsMissing) {
  EXPECT_NE(parse_table("hello\n").status().text().find("there is no table of nccl-tests"), std::string_view::npos);
  const auto empty = parse_table("\n# size count type time algbw busbw error time algbw busbw error\n");
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.status().text(), "the table of line 2 has no rows");
}

}  // namespace
}  // namespace tutti::perf

#include "tools/perf/table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/text.h"
#include "tools/perf/collective.h"

namespace tutti::perf {
namespace {

Row row_of(std::uint64_t bytes, Measurement out, Measurement in) {
  return {.bytes = bytes, .count = bytes / 4, .type = "float", .operation = "sum", .out_of_place = out, .in_place = in};
}

std::string line_of(const Row& row, const Options& options = {}) {
  return row_begin(row) + row_part(*row.out_of_place, Place::out_of_place, options, "") +
         row_part(*row.in_place, Place::in_place, options, "2024-05-01 12:00:00");
}

TEST(Table, HeadIsThatOfNcclTests) {
  EXPECT_EQ(table_head({}),
            "#\n"
            "#                                                              out-of-place                       in-place"
            "          \n"
            "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   "
            "busbw  #wrong \n"
            "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  "
            "(GB/s)         \n");
}

TEST(Table, HeadNamesTheTimeOfTheProcessorAndTheTimeOfDay) {
  Options options;
  options.report_cpu_time = 1;
  options.report_timestamps = 1;
  EXPECT_EQ(table_head(options),
            "#\n"
            "#                                                              out-of-place                       in-place"
            "          \n"
            "#       size         count      type   redop    root  cputime   algbw   busbw  #wrong  cputime   algbw   "
            "busbw  #wrong           timestamp\n"
            "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  "
            "(GB/s)           %Y-%m-%d %H:%M:%S\n");
}

TEST(Table, HeadHasColumnsForSingleIterations) {
  Options options;
  options.per_iteration = 1;
  EXPECT_EQ(
      table_head(options),
      "#\n"
      "#                                                                 out-of-place (+ per-iteration)          "
      "                      in-place (+ per-iteration)\n"
      "#       size         count      type   redop    root     time   algbw   busbw  #wrong    i_min    i_max    "
      "i_p99    i_cv%     time   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv% \n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)     (us)     "
      "(us)      (%)     (us)  (GB/s)  (GB/s)             (us)     (us)     (us)      (%) \n");
}

TEST(Table, RowsHaveTheColumnsOfNcclTests) {
  const Row row = row_of(1048576, {76.71, 13.67, 23.92, 0}, {77.73, 13.49, 23.61, 12});
  EXPECT_EQ(line_of(row),
            "     1048576        262144     float     sum      -1    76.71   13.67   23.92       0    77.73   13.49   "
            "23.61      12\n");
}

TEST(Table, RowsThatAreNotCheckedSayNotAvailable) {
  const Row row = row_of(64, {32.01, 0.002, 0.0035}, {31.82, 0.002, 0.0035});
  EXPECT_EQ(line_of(row),
            "          64            16     float     sum      -1    32.01    0.00    0.00    N/A    31.82    0.00    "
            "0.00    N/A\n");
}

TEST(Table, RowsEndWithTheTimeOfDay) {
  Options options;
  options.report_timestamps = 1;
  const Row row = row_of(64, {32.01, 0, 0, 0}, {31.82, 0, 0, 0});
  EXPECT_EQ(line_of(row, options),
            "          64            16     float     sum      -1    32.01    0.00    0.00       0    31.82    0.00    "
            "0.00       0  2024-05-01 12:00:00\n");
}

TEST(Table, RowsTellOfSingleIterations) {
  Options options;
  options.per_iteration = 1;
  Measurement measurement{1.5, 2, 3, 0};
  measurement.distribution = Distribution{.min_us = 1, .max_us = 12345.678, .p99_us = 3.25, .variation_percent = 7.5};
  const Row row = row_of(64, measurement, measurement);
  const std::string part = "     1.50    2.00    3.00       0     1.00  12345.7     3.25     7.50";
  EXPECT_EQ(line_of(row, options), "          64            16     float     sum      -1" + part + part + "\n");
}

TEST(Table, NumbersFitTheirColumns) {
  EXPECT_EQ(fitted(1.234, 7), "   1.23");
  EXPECT_EQ(fitted(9999.99, 7), "9999.99");
  EXPECT_EQ(fitted(99999.9, 7), "99999.9");
  EXPECT_EQ(fitted(225083, 7), " 225083");
  EXPECT_EQ(fitted(9999999, 7), "9999999");
  EXPECT_EQ(fitted(123456789, 7), "1.2e+08");
  EXPECT_EQ(fitted(235.14, 6), "235.14");
  EXPECT_EQ(fitted(1234567, 6), " 1e+06");
  EXPECT_EQ(fitted(99.996, 6), "100.00");
  EXPECT_EQ(fitted(9999.996, 7), "10000.0");
}

TEST(Table, PreambleSaysHowTheRunIsMade) {
  Options options;
  options.threads = 2;
  options.devices = 4;
  options.min_bytes = 8;
  options.max_bytes = 128;
  options.step_factor = 2;
  perf::Setup setup;
  setup.program = "all_reduce_perf";
  setup.library_version = 22809;
  const std::string text = preamble(setup, options);
  const auto lines = text::split(text, '\n');
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_TRUE(lines[0].starts_with("# nccl-tests version 2.19.6 nccl-headers=")) << lines[0];
  EXPECT_TRUE(lines[0].ends_with(" nccl-library=22809")) << lines[0];
  EXPECT_EQ(lines[1], "# Collective test starting: all_reduce_perf");
  EXPECT_EQ(lines[2],
            "# nThread 2 nGpus 4 minBytes 8 maxBytes 128 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 "
            "validation: 1 graph: 0 unalign: 0");
  EXPECT_EQ(lines[3], "#");
  EXPECT_EQ(lines[4], "# Using devices");
  options.step_factor = 1;
  EXPECT_NE(preamble(setup, options).find("step: 1048576(bytes)"), std::string::npos);
}

TEST(Table, PreambleHasALineForEveryMode) {
  Options options;
  options.parallel_start = 1;
  options.per_iteration = 1;
  options.per_iteration_skip = 3;
  for (const auto& [blocking, line] :
       {std::pair{1, "# Blocking Enabled: wait and barrier after each inner iteration (-m) \n"},
        {2, "# Blocking Enabled: wait after each inner iteration (-m), no barrier \n"},
        {3,
         "# Blocking Enabled: wait and barrier after each outer iteration (-n); reported time excludes barrier \n"}}) {
    options.blocking = blocking;
    const std::string text = preamble({}, options);
    EXPECT_NE(text.find(line), std::string::npos) << text;
    EXPECT_NE(
        text.find("# Per-Iteration Report: CUDA event timing; i_* uses max over process rows; summary skips first 3 "
                  "iterations \n"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("# Parallel Init Enabled: threads call into NcclInitRank concurrently \n"), std::string::npos);
  }
}

TEST(Table, SeatsHaveTheirColumns) {
  EXPECT_EQ(
      seat_line({.rank = 3, .group = 1, .pid = 4711, .host = "node", .device = 2, .bus = "0000:0f:00", .name = "Big"}),
      "#  Rank  3 Group  1 Pid   4711 on       node device  2 [0000:0f:00] Big\n");
}

TEST(Table, FootGivesTheVerdict) {
  perf::Run run;
  run.setup.program = "all_reduce_perf";
  run.average_bus_gbps = 45.6789;
  EXPECT_EQ(table_foot(run),
            "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 45.6789 \n#\n"
            "# Collective test concluded: all_reduce_perf\n");
  run.out_of_bounds = 3;
  run.bandwidth_reached = false;
  EXPECT_EQ(table_foot(run),
            "# Out of bounds values : 3 FAILED\n# Avg bus bandwidth    : 45.6789 FAILED\n#\n"
            "# Collective test concluded: all_reduce_perf\n");
  run.bandwidth_reached = true;
  EXPECT_NE(table_foot(run).find(" : 45.6789 OK\n"), std::string::npos);
}

TEST(Table, MemoryIsInPowersOf1024) {
  EXPECT_EQ(memory_text(0), "0.00 B");
  EXPECT_EQ(memory_text(1536), "1.50 KB");
  EXPECT_EQ(memory_text(12 << 20), "12.0 MB");
  EXPECT_EQ(memory_text(std::int64_t{300} << 30), "300 GB");
}

// Tables that nccl-tests printed on 8 and 16 devices. Their version gave times fewer digits, the rest is as here.
TEST(Table, RowsOfRealMachinesComeOutAsTheyWere) {
  for (const auto& [name, ranks] : {std::pair{"a100x8.log", 8}, {"a100x16.log", 16}}) {
    std::ifstream file(std::string(TUTTI_SOURCE_DIR "/tools/perf/judge/data/") + name);
    ASSERT_TRUE(file) << name;
    int rows = 0;
    for (std::string line; std::getline(file, line);) {
      const auto fields = text::words(line);
      if (line.starts_with('#') || fields.size() != 13) continue;
      ++rows;
      const auto number = [&](std::size_t index) { return text::real_of(fields[index]).value_or(-1); };
      const Row row{.bytes = static_cast<std::uint64_t>(number(0)),
                    .count = static_cast<std::uint64_t>(number(1)),
                    .type = std::string(fields[2]),
                    .operation = std::string(fields[3]),
                    .root = static_cast<int>(number(4)),
                    .out_of_place = Measurement{number(5), number(6), number(7), static_cast<std::int64_t>(number(8))},
                    .in_place = Measurement{number(9), number(10), number(11), static_cast<std::int64_t>(number(12))}};
      std::string printed = line_of(row);
      printed.pop_back();  // the end of the line
      const auto words = text::words(printed);
      ASSERT_EQ(words.size(), 13u) << printed;
      for (std::size_t i = 0; i < 13; ++i) {
        if (i == 5 || i == 9)
          EXPECT_EQ(text::real_of(words[i]), number(i)) << printed;
        else
          EXPECT_EQ(words[i], fields[i]) << printed;
      }
      // What the columns mean is the same too: the bandwidths follow from size and time.
      const Collective& collective = *find_collective("all_reduce");
      const Shape shape{row.bytes, 4, ranks};
      const double algorithm = collective.moved_bytes(shape) / number(5) / 1e3;
      EXPECT_NEAR(algorithm, number(6), 0.006 + number(6) * 1e-3) << line;
      EXPECT_NEAR(algorithm * collective.bus_factor(ranks), number(7), 0.012 + number(7) * 1e-3) << line;
    }
    EXPECT_GE(rows, 20) << name;
  }
}

}  // namespace
}  // namespace tutti::perf

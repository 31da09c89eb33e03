// Every tool, with every type and operation, gives right results.
#include "tests/perf/tool_run.h"

namespace tutti::perf {
namespace {

constexpr std::size_t kTypes = 12;
constexpr std::size_t kOperations = 6;

class Tools : public testing::TestWithParam<const char*> {
 protected:
  static bool reduces() {
    const std::string name = GetParam();
    return name == "all_reduce" || name == "reduce" || name == "reduce_scatter";
  }
  static std::size_t rows_of_all() { return kTypes * (reduces() ? kOperations : 1); }
};

TEST_P(Tools, AreRightInEveryTypeAndOperation) {
  const Ending ending = perf(GetParam(), "-b 1000 -e 1000 -n 1 -w 0 -g 4 -d all -o all");
  expect_right(ending, rows_of_all());
}

TEST_P(Tools, AreRightInThreads) {
  const Ending ending = perf(GetParam(), "-b 64K -e 64K -n 2 -t 4 -o all");
  expect_right(ending, reduces() ? kOperations : 1);
}

TEST_P(Tools, AreRightForNothingOneElementAndMisalignedBuffers) {
  expect_right(perf(GetParam(), "-b 0 -e 0 -n 1 -g 2"), 1);
  expect_right(perf(GetParam(), "-b 1 -e 1 -n 1 -g 2 -d int8"), 1);
  expect_right(perf(GetParam(), "-b 100 -e 300 -i 100 -n 1 -g 2 -d half -u 3"), 3);
}

TEST_P(Tools, AreRightAloneAndOnAllDevices) {
  expect_right(perf(GetParam(), "-b 4K -e 4K -n 1 -g 1 -d all"), kTypes);
  const Ending all = perf(GetParam(), "-b 256K -e 256K -n 1");
  expect_right(all, 1);
  EXPECT_EQ(count_in(all.output, "#  Rank "), 8u) << all.output;
}

TEST_P(Tools, AreRightInGraphs) { expect_right(perf(GetParam(), "-b 4K -e 4K -n 2 -g 2 -G 2"), 1); }

INSTANTIATE_TEST_SUITE_P(Names, Tools,
                         testing::Values("all_reduce", "all_gather", "broadcast", "reduce_scatter", "reduce",
                                         "alltoall", "alltoallv", "scatter", "gather", "sendrecv", "hypercube"),
                         [](const auto& name) { return std::string(name.param); });

TEST(Averages, AreRightOverRanksThatAreNoPowerOfTwo) {
  for (const char* ranks : {"3", "7"}) {
    expect_right(perf("all_reduce", std::string("-b 4K -e 4K -n 1 -o avg -d all -g ") + ranks), kTypes);
    expect_right(perf("reduce_scatter", std::string("-b 4K -e 4K -n 1 -o avg -d all -g ") + ranks), kTypes);
  }
}

TEST(Roots, AreTriedOneAfterTheOther) {
  for (const char* name : {"broadcast", "reduce", "scatter", "gather"}) {
    const Ending ending = perf(name, "-b 4K -e 4K -n 1 -g 3 -r all");
    expect_right(ending, 3);
    const auto rows = rows_in(ending.output);
    for (std::size_t root = 0; root < rows.size(); ++root) EXPECT_EQ(rows[root][kRoot], std::to_string(root)) << name;
    EXPECT_EQ(rows_in(perf(name, "-b 4K -e 4K -n 1 -g 3 -r 1").output).at(0)[kRoot], "1");
  }
}

TEST(Hypercube, NeedsAPowerOfTwoOfRanks) {
  const Ending ending = perf("hypercube", "-b 4K -e 4K -n 1 -g 3");
  EXPECT_EQ(ending.exit_code, 2) << ending.output;
  EXPECT_TRUE(ending.says("hypercube needs a power of two of ranks, not 3")) << ending.output;
}

class Alltoallv : public testing::Test {
 protected:
  Ending run_with(const std::string& matrix, const std::string& line, Environment environment = {}) const {
    std::ofstream(folder_.file("matrix")) << matrix;
    environment["NCCL_TESTS_ALLTOALLV_MATRIX_FILE"] = folder_.file("matrix");
    return perf("alltoallv", line, environment);
  }
  Folder folder_;
};

TEST_F(Alltoallv, SendsWhatTheMatrixSays) {
  const Ending ending = run_with("0 1024\n4096 16\n", "-b 4112 -e 4112 -n 1 -g 2");
  expect_right(ending, 1);
  EXPECT_EQ(rows_in(ending.output).at(0)[kSize], "4112");  // what rank 1 sends
  EXPECT_EQ(rows_in(ending.output).at(0)[1], "0");
}

TEST_F(Alltoallv, ScalesTheMatrix) {
  const Ending ending =
      run_with("0 1024\n4096 0\n", "-b 4K -e 4K -n 1 -g 2", {{"NCCL_TESTS_ALLTOALLV_MATRIX_SCALE", "0.5"}});
  expect_right(ending, 1);
  EXPECT_EQ(rows_in(ending.output).at(0)[kSize], "2048");
}

TEST_F(Alltoallv, SpreadsEvenlyIfAsked) {
  const Ending ending = perf("alltoallv", "-b 4K -e 4K -n 1 -g 4", {{"NCCL_TESTS_ALLTOALLV_SPREAD", "0"}});
  expect_right(ending, 1);
  EXPECT_EQ(rows_in(ending.output).at(0)[kSize], "4096");
}

TEST_F(Alltoallv, TellsWhatEachRankMovedIfAsked) {
  const Ending ending =
      run_with("0 1024\n4096 16\n", "-b 4112 -e 4112 -n 1 -g 2", {{"NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY", "1"}});
  expect_right(ending, 1);
  EXPECT_TRUE(ending.says("rank=0 send_bytes=1024 recv_bytes=4096 ")) << ending.output;
  EXPECT_TRUE(ending.says("rank=1 send_bytes=4112 recv_bytes=1040 ")) << ending.output;
}

TEST_F(Alltoallv, SaysWhatIsWrongWithTheMatrix) {
  const std::vector<std::pair<Ending, std::string>> endings = {
      {run_with("1 2\n3\n", "-g 2"), "row 1 has 1 numbers"},
      {run_with("16\n", "-b 4K -e 4K -g 2"), "the traffic matrix is for 1 ranks, but there are 2"},
      {run_with("16 16\n16 16\n", "-b 4K -e 8K -g 2"), "give -b and -e the same value"},
      {run_with("0 1M\n0 0\n", "-b 4K -e 4K -g 2"), "'1M' is no number of bytes"},
      {run_with("0 8192\n0 0\n", "-b 4K -e 4K -g 2"), "the traffic matrix needs buffers of 8192 bytes"},
      {perf("alltoallv", "-g 2", {{"NCCL_TESTS_ALLTOALLV_MATRIX_FILE", "/nowhere"}}),
       "the traffic matrix of NCCL_TESTS_ALLTOALLV_MATRIX_FILE: cannot read /nowhere"},
      {perf("alltoallv", "-g 2", {{"NCCL_TESTS_ALLTOALLV_SPREAD", "2"}}),
       "NCCL_TESTS_ALLTOALLV_SPREAD=2: give a number"},
  };
  for (const auto& [ending, part] : endings) {
    EXPECT_EQ(ending.exit_code, 2) << ending.output;
    EXPECT_TRUE(ending.says(part)) << ending.output;
  }
}

}  // namespace
}  // namespace tutti::perf

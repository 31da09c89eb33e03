#include "tools/perf/traffic.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti::perf {
namespace {

std::string error_of(std::string_view text, double scale = 1) {
  const auto traffic = Traffic::parse(text, "matrix", scale);
  return traffic ? "" : std::string(traffic.status().text());
}

TEST(Traffic, IsReadAsRowsOfSenders) {
  const auto traffic = Traffic::parse("0 32\n64 16\n", "matrix", 1);
  ASSERT_TRUE(traffic) << traffic.status().text();
  EXPECT_TRUE(traffic->is_fixed());
  EXPECT_EQ(traffic->dimension(), 2);
  EXPECT_EQ(traffic->bytes(0, 1, 2, 0), 32u);
  EXPECT_EQ(traffic->bytes(1, 0, 2, 0), 64u);
  EXPECT_EQ(traffic->largest_bytes(2, 0), 80u);  // what rank 1 sends
}

TEST(Traffic, IsScaledAndRoundedDownToSixteenBytes) {
  const auto traffic = Traffic::parse("100\n", "matrix", 0.5);
  ASSERT_TRUE(traffic) << traffic.status().text();
  EXPECT_EQ(traffic->bytes(0, 0, 1, 0), 48u);
}

TEST(Traffic, TakesBlankLinesTabsAndFractions) {
  const auto traffic = Traffic::parse("\n 16.5\t32 \r\n\n0 1e3\n\n", "matrix", 1);
  ASSERT_TRUE(traffic) << traffic.status().text();
  EXPECT_EQ(traffic->bytes(0, 0, 2, 0), 16u);
  EXPECT_EQ(traffic->bytes(1, 1, 2, 0), 992u);
}

TEST(Traffic, MayBeForMoreRanksThanThereAre) {
  const auto traffic = Traffic::parse("16 32 1024\n16 16 1024\n1024 1024 1024\n", "matrix", 1);
  ASSERT_TRUE(traffic) << traffic.status().text();
  EXPECT_EQ(traffic->largest_bytes(2, 0), 48u);
}

TEST(Traffic, SaysWhatIsWrongWithAMatrix) {
  EXPECT_EQ(error_of(""), "matrix has no numbers; it needs a row for each rank");
  EXPECT_EQ(error_of(" \n\n"), "matrix has no numbers; it needs a row for each rank");
  EXPECT_EQ(error_of("1 2\n3\n"), "matrix: row 1 has 1 numbers, the first has 2");
  EXPECT_EQ(error_of("1 2\n"), "matrix must be square, but has 1 rows of 2");
  EXPECT_NE(error_of("1 2\n3 x\n").find("'x' is no number of bytes"), std::string::npos);
  EXPECT_NE(error_of("1 2\n3 x\n").find("matrix: row 1"), std::string::npos);
  EXPECT_NE(error_of("-1").find("'-1' is no number of bytes"), std::string::npos);
  EXPECT_NE(error_of("nan").find("'nan' is no number of bytes"), std::string::npos);
  EXPECT_NE(error_of("1e30").find("'1e30' times 1 is too large"), std::string::npos);
  EXPECT_NE(error_of("1e14", 100).find("is too large"), std::string::npos);
}

TEST(Traffic, AFileThatIsNotThereIsNamedWithItsVariable) {
  const auto traffic = Traffic::read("/nowhere/matrix.txt", 1);
  ASSERT_FALSE(traffic);
  EXPECT_NE(traffic.status().text().find("/nowhere/matrix.txt"), std::string::npos);
  EXPECT_NE(traffic.status().text().find("NCCL_TESTS_ALLTOALLV_MATRIX_FILE"), std::string::npos);
}

TEST(Traffic, WithoutSpreadIsTheSameToAll) {
  const Traffic traffic(0);
  for (int target = 0; target < 4; ++target) EXPECT_EQ(traffic.bytes(1, target, 4, 4096), 1024u);
  EXPECT_EQ(traffic.largest_bytes(4, 4096), 4096u);
}

TEST(Traffic, GrowsWithTheDistance) {
  const Traffic traffic(1);
  EXPECT_EQ(traffic.bytes(2, 2, 4, 6144), 0u);
  EXPECT_EQ(traffic.bytes(2, 3, 4, 6144), 1024u);
  EXPECT_EQ(traffic.bytes(2, 0, 4, 6144), 2048u);
  EXPECT_EQ(traffic.bytes(2, 1, 4, 6144), 3072u);
}

TEST(Traffic, NeverSendsMoreThanTheTotal) {
  for (const double spread : {0.0, 0.3, 1.0}) {
    const Traffic traffic(spread);
    for (const int ranks : {1, 2, 3, 7, 64}) {
      for (const std::uint64_t total : {0u, 16u, 1000u, 1u << 20})
        EXPECT_LE(traffic.largest_bytes(ranks, total), total);
    }
  }
}

TEST(Traffic, SendsAndReceivesTheSameAmountByDistance) {
  const Traffic traffic(0.7);
  for (int rank = 0; rank < 5; ++rank) {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (int peer = 0; peer < 5; ++peer) {
      sent += traffic.bytes(rank, peer, 5, 100000);
      received += traffic.bytes(peer, rank, 5, 100000);
    }
    EXPECT_EQ(sent, received) << rank;
    EXPECT_EQ(sent, traffic.largest_bytes(5, 100000)) << rank;
  }
}

}  // namespace
}  // namespace tutti::perf

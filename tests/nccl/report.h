// What the programs of examples/nccl say about their sums, taken apart.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <string>

namespace tutti::programs {

// What the line of one rank says.
struct Claim {
  std::string who;  // a thread or a host
  int ranks = 0;
  int device = 0;
  int sum = 0;
  int wrong = 0;
};

// By rank. A rank that speaks twice is a failure of the test.
inline std::map<int, Claim> claims_in(const std::string& output) {
  static const std::regex line(
      "(.*): rank (\\d+) of (\\d+), device (\\d+): sum (\\d+), expected \\d+, (\\d+) of \\d+ wrong");
  std::map<int, Claim> claims;
  for (std::sregex_iterator found(output.begin(), output.end(), line), end; found != end; ++found) {
    const auto number = [&](std::size_t group) { return std::stoi(found->str(group)); };
    const Claim claim{found->str(1), number(3), number(4), number(5), number(6)};
    EXPECT_TRUE(claims.emplace(number(2), claim).second) << "rank " << number(2) << " speaks twice: " << output;
  }
  return claims;
}

// Every rank has said the sum of 1 to `ranks`, which is counted here once more, and that all places are right.
inline void expect_sums(const std::string& output, int ranks) {
  int sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += rank + 1;
  const auto claims = claims_in(output);
  EXPECT_EQ(claims.size(), static_cast<std::size_t>(ranks)) << output;
  for (const auto& [rank, claim] : claims) {
    EXPECT_LT(rank, ranks) << output;
    EXPECT_EQ(claim.ranks, ranks) << output;
    EXPECT_EQ(claim.sum, sum) << output;
    EXPECT_EQ(claim.wrong, 0) << output;
  }
  EXPECT_NE(output.find("all sums are right\n"), std::string::npos) << output;
}

// "host0 0, host0 1, host1 0": who had which device, in the order of ranks.
inline std::string places_in(const std::string& output) {
  std::string places;
  for (const auto& [rank, claim] : claims_in(output)) {
    places += (places.empty() ? "" : ", ") + claim.who + " " + std::to_string(claim.device);
  }
  return places;
}

}  // namespace tutti::programs

#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <vector>

#include "tutti/communicator.h"

namespace tutti {
namespace {

// What went wrong on one rank; empty: nothing. It leaves as soon as it has the smaller communicator.
std::string shrink_and_leave(const Identifier& identifier, Rank rank, Rank size) {
  auto whole = Communicator::create({.rank = rank, .size = size, .store = "tcp:" + identifier.text()});
  if (!whole) return std::string(whole.status().text());
  std::optional<Communicator> left = *std::move(whole);
  auto shrunk = left->shrink(std::chrono::seconds(20));
  left.reset();
  if (!shrunk) return std::string(shrunk.status().text());
  return shrunk->size() == size ? "" : "somebody is missing who was there";
}

TEST(Shrink, WhoLeavesAtOnceLeavesNobodyBehind) {
  constexpr Rank kRanks = 12;
  for (int round = 0; round < 12; ++round) {
    const auto identifier = Identifier::create();
    ASSERT_TRUE(identifier.is_ok()) << identifier.status().text();
    std::vector<std::future<std::string>> all;
    for (Rank rank = 0; rank < kRanks; ++rank) {
      all.push_back(std::async(std::launch::async, shrink_and_leave, *identifier, rank, kRanks));
    }
    for (auto& one : all) ASSERT_EQ(one.get(), "") << "round " << round;
  }
}

}  // namespace
}  // namespace tutti

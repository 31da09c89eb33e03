#include "bootstrap/store/waits.h"

#include <gtest/gtest.h>

namespace tutti::bootstrap {
namespace {

using Calls = std::vector<CallId>;

constexpr ActorId kOne{1};
constexpr ActorId kTwo{2};
constexpr Time at(std::uint64_t ns) { return {ns}; }

TEST(Waits, EndWithTheirKeyOrWithTheirTime) {
  Waits waits;
  waits.add({kOne, 1}, "a", at(50));
  waits.add({kTwo, 1}, "a", at(10));
  waits.add({kTwo, 2}, "b", at(20));
  EXPECT_EQ(waits.next(), at(10));
  EXPECT_EQ(waits.take_due(at(9)), Calls());
  EXPECT_EQ(waits.take_due(at(10)), Calls({{kTwo, 1}}));
  EXPECT_EQ(waits.take("a"), Calls({{kOne, 1}}));
  EXPECT_EQ(waits.take("a"), Calls());
  EXPECT_EQ(waits.take_due(at(100)), Calls({{kTwo, 2}}));
  EXPECT_EQ(waits.size(), 0u);
  EXPECT_EQ(waits.next(), std::nullopt);
}

TEST(Waits, AreReplacedByTheSameCall) {
  Waits waits;
  waits.add({kOne, 1}, "a", at(10));
  waits.add({kOne, 1}, "a", at(20));
  EXPECT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits.take_due(at(10)), Calls());
  EXPECT_EQ(waits.take("a"), Calls({{kOne, 1}}));
}

TEST(Waits, GoWithTheirClient) {
  Waits waits;
  for (std::uint64_t number : {1, 2, 3}) waits.add({kOne, number}, "a", at(10));
  waits.add({kTwo, 1}, "a", at(10));
  EXPECT_EQ(waits.count_of(kOne), 3u);
  waits.drop(kOne);
  EXPECT_EQ(waits.count_of(kOne), 0u);
  EXPECT_EQ(waits.take("a"), Calls({{kTwo, 1}}));
}

}  // namespace
}  // namespace tutti::bootstrap

// Communicators whose ranks are on virtual hosts.
#include <gtest/gtest.h>

#include <span>

#include "bootstrap/store/place_for_test.h"
#include "tests/network/lab/lab.h"
#include "tests/process/crew.h"
#include "tests/process/meeting.h"

namespace tutti::network {
namespace {

using bootstrap::TemporaryDirectory;
using conformance::Crew;
using lab::Lab;

constexpr std::chrono::seconds kLimit(60);

class NetworkTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status status = Lab::is_possible(); !status) GTEST_SKIP() << status.text();
  }
};

// 0 + 1 + ... of all ranks; empty: it came out right.
std::string add_ranks(Result<Communicator> communicator) {
  if (!communicator) return conformance::spoken(communicator.status());
  auto sum = static_cast<float>(communicator->rank());
  if (const Status status = communicator->all_reduce(std::span<float>(&sum, 1)); !status) {
    return conformance::spoken(status);
  }
  const auto n = static_cast<float>(communicator->size());
  return sum == n * (n - 1) / 2 ? "" : fmt::format("the sum is {}", sum);
}

TEST_F(NetworkTest, RanksOfOneVirtualHostMeetAsThoseOfAMachineDo) {
  const auto lab = Lab::create();
  ASSERT_TRUE(lab) << lab.status().text();
  const TemporaryDirectory directory;
  constexpr Rank kRanks = 3;
  Crew crew(kRanks, [&](int rank) -> std::string {
    if (const Status status = lab->enter(1); !status) return conformance::spoken(status);
    return add_ranks(conformance::meet(rank, kRanks, directory / "store"));
  });
  for (const std::string& text : crew.finish(kLimit)) EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace tutti::network

// A rank on another host that lives and does not come: it says itself what it is doing.
#include <gtest/gtest.h>

#include "tests/network/lab/lab.h"
#include "tests/process/latecomer.h"

namespace tutti::network {
namespace {

using conformance::Latecomer;
using lab::Lab;

TEST(LateOnAnotherHost, IsNamedOnceWithItsLastCallAndPlace) {
  if (const Status status = Lab::is_possible(); !status) GTEST_SKIP() << status.text();
  const auto lab = Lab::create();
  ASSERT_TRUE(lab) << lab.status().text();
  const Latecomer late([&](int rank, const std::string& folder) -> std::string {
    if (const Status status = lab->enter(rank); !status) return std::string(status.text());
    return Latecomer::identifier_store(rank, folder);
  });
  late.expect_warned_once();
  EXPECT_NE(late.log.find(" on host1)"), std::string::npos) << late.log;
}

}  // namespace
}  // namespace tutti::network

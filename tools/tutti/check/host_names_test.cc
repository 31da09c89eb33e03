#include "tools/tutti/check/host_names.h"

#include <gtest/gtest.h>

#include <vector>

namespace tutti::tool::check {
namespace {

std::string text(const std::vector<std::string>& names) { return names_text(names); }

TEST(HostNames, PutsNumbersTogether) {
  EXPECT_EQ(text({"gpu1", "gpu2", "gpu3", "gpu7"}), "gpu[1-3,7]");
  EXPECT_EQ(text({"gpu9", "gpu10", "gpu11"}), "gpu[9-11]");
  EXPECT_EQ(text({"gpu3", "gpu1"}), "gpu[1,3]");
  EXPECT_EQ(text({"a1-ib", "a2-ib"}), "a[1-2]-ib");
}

TEST(HostNames, KeepsLeadingZeros) {
  EXPECT_EQ(text({"n01", "n02", "n10"}), "n[01-02,10]");
  EXPECT_EQ(text({"n01", "n1"}), "n01, n1");
}

TEST(HostNames, LeavesOthersAsTheyAre) {
  EXPECT_EQ(text({}), "");
  EXPECT_EQ(text({"login"}), "login");
  EXPECT_EQ(text({"gpu1"}), "gpu1");
  EXPECT_EQ(text({"10.0.0.1", "10.0.0.2"}), "10.0.0.1, 10.0.0.2");
  EXPECT_EQ(text({"fe80::1", "fe80::2"}), "fe80::1, fe80::2");
  EXPECT_EQ(text({"n1.site2.org", "n2.site2.org"}), "n[1-2].site2.org");
  EXPECT_EQ(text({"n99999999999999999999"}), "n99999999999999999999");
}

}  // namespace
}  // namespace tutti::tool::check

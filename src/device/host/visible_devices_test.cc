#include "device/host/visible_devices.h"

#include <gtest/gtest.h>

namespace tutti::device {
namespace {

using Numbers = std::vector<int>;

TEST(VisibleDevices, AreAllUnlessAListSaysOtherwise) {
  EXPECT_EQ(visible_devices(3, std::nullopt), (Numbers{0, 1, 2}));
  EXPECT_EQ(visible_devices(8, "2,0,5"), (Numbers{2, 0, 5}));
  EXPECT_EQ(visible_devices(8, " 7 , 1"), (Numbers{7, 1}));
}

TEST(VisibleDevices, AreNoneWhereTheListIsEmpty) {
  for (const char* const list : {"", " ", "-1", "NoDevFiles", "none"}) EXPECT_EQ(visible_devices(8, list), Numbers{});
}

TEST(VisibleDevices, EndBeforeTheFirstThatIsNone) {
  EXPECT_EQ(visible_devices(8, "1,8,2"), (Numbers{1}));
  EXPECT_EQ(visible_devices(8, "3,x,2"), (Numbers{3}));
  EXPECT_EQ(visible_devices(8, "0,1,-1,2"), (Numbers{0, 1}));
  EXPECT_EQ(visible_devices(8, "4,,5"), (Numbers{4}));
  EXPECT_EQ(visible_devices(8, "4,5,4,6"), (Numbers{4, 5}));
  EXPECT_EQ(visible_devices(8, "99999999999999999999"), Numbers{});
}

TEST(VisibleDevices, MayBeNamedByTheirUuids) {
  const std::string third = uuid_text(uuid_of(3));
  EXPECT_EQ(visible_devices(8, third + ",1"), (Numbers{3, 1}));
  std::string upper = third;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  EXPECT_EQ(visible_devices(8, upper), (Numbers{3}));
  EXPECT_EQ(visible_devices(1, uuid_text(uuid_of(0)).substr(0, 12)), (Numbers{0})) << "a beginning is enough";
  EXPECT_EQ(visible_devices(8, uuid_text(uuid_of(0)).substr(0, 12)), Numbers{}) << "which of them?";
  EXPECT_EQ(visible_devices(3, third), Numbers{}) << "there are only three";
  EXPECT_EQ(visible_devices(8, third + "0"), Numbers{});
}

}  // namespace
}  // namespace tutti::device

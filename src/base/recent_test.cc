#include "base/recent.h"

#include <gtest/gtest.h>

#include <string>

namespace tutti {
namespace {

const void* handle(std::uintptr_t number) { return reinterpret_cast<const void*>(number * 16); }

TEST(Recent, FindsWhatWasKeptAndNothingElse) {
  Recent<std::string> recent;
  EXPECT_EQ(recent.find(handle(1), 0), nullptr);
  recent.keep(handle(1), 0, "one");
  ASSERT_NE(recent.find(handle(1), 0), nullptr);
  EXPECT_EQ(*recent.find(handle(1), 0), "one");
  EXPECT_EQ(recent.find(handle(2), 0), nullptr);
}

TEST(Recent, ForgetsWhatIsOfAnotherVersion) {
  Recent<std::string> recent;
  recent.keep(handle(1), 0, "one");
  EXPECT_EQ(recent.find(handle(1), 1), nullptr);
  recent.keep(handle(1), 1, "another");
  EXPECT_EQ(*recent.find(handle(1), 1), "another");
}

TEST(Recent, HasRoomForTheStreamsOfEightDevices) {
  Recent<std::uintptr_t> recent;
  for (std::uintptr_t i = 1; i <= 8; ++i) recent.keep(handle(i), 0, i);
  for (std::uintptr_t i = 1; i <= 8; ++i) {
    ASSERT_NE(recent.find(handle(i), 0), nullptr) << i;
    EXPECT_EQ(*recent.find(handle(i), 0), i);
  }
}

TEST(Recent, NeverFindsOneForAnother) {
  Recent<std::uintptr_t> recent;
  for (std::uintptr_t i = 1; i <= 1000; ++i) recent.keep(handle(i), 0, i);
  for (std::uintptr_t i = 1; i <= 1000; ++i) {
    const auto* found = recent.find(handle(i), 0);
    EXPECT_EQ(found == nullptr ? i : *found, i);
  }
  EXPECT_NE(recent.find(handle(1000), 0), nullptr);
}

}  // namespace
}  // namespace tutti

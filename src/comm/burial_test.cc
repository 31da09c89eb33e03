#include "comm/burial.h"

#include <gtest/gtest.h>

namespace tutti::comm {
namespace {

struct Grave {
  transport::Counter left = 0;
  bool is_peer_alive = true;
  std::weak_ptr<std::byte> memory;

  void bury_one() {
    std::shared_ptr<std::byte> owned(new std::byte[1], [](const std::byte* bytes) { delete[] bytes; });
    memory = owned;
    transport::Member peer;
    peer.is_alive = [this] { return is_peer_alive; };
    bury({.memory = std::move(owned), .left = {&left}, .peers = {peer}});
  }
};

TEST(Burial, KeepsMemoryUntilTheOthersHaveLeft) {
  Grave grave;
  grave.bury_one();
  bury({});
  EXPECT_FALSE(grave.memory.expired());
  EXPECT_EQ(buried_count(), 1u);
  grave.left = 1;
  bury({});
  EXPECT_TRUE(grave.memory.expired());
  EXPECT_EQ(buried_count(), 0u);
}

TEST(Burial, FreesMemoryOfThoseWhoDiedWithoutLeaving) {
  Grave grave;
  grave.bury_one();
  grave.is_peer_alive = false;
  bury({});
  EXPECT_TRUE(grave.memory.expired());
}

}  // namespace
}  // namespace tutti::comm

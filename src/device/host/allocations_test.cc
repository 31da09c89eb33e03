#include "device/host/allocations.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <thread>
#include <vector>

#include "device/host/heap.h"

namespace tutti::device {
namespace {

TEST(Allocations, AreFoundByEveryByteOfThemAndNoOther) {
  auto& allocations = Allocations::of_process();
  const auto memory = allocations.allocate(100, MemoryKind::managed, 3, 7);
  ASSERT_TRUE(memory) << memory.status().text();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->data()) % Allocations::kAlignment, 0u);
  for (const std::size_t at : {0, 50, 99}) {
    const auto found = allocations.find(memory->data() + at);
    ASSERT_TRUE(found) << at;
    EXPECT_EQ(found->bytes.data(), memory->data());
    EXPECT_EQ(found->bytes.size(), 100u);
    EXPECT_EQ(found->kind, MemoryKind::managed);
    EXPECT_EQ(found->device, 3);
    EXPECT_EQ(found->flags, 7u);
  }
  EXPECT_FALSE(allocations.find(memory->data() + 100));
  EXPECT_FALSE(allocations.find(memory->data() - 1));
  EXPECT_FALSE(allocations.find(nullptr));
  EXPECT_FALSE(allocations.take(memory->data() + 1));
  const auto taken = allocations.take(memory->data());
  ASSERT_TRUE(taken);
  EXPECT_FALSE(allocations.find(memory->data()));
  EXPECT_FALSE(allocations.take(memory->data()));
  Allocations::give_back(*taken);
}

TEST(Allocations, GiveAllOfThePieceBack) {
  auto& allocations = Allocations::of_process();
  const auto keeps_the_heap = allocations.allocate(1, MemoryKind::device, 0);
  ASSERT_TRUE(keeps_the_heap);
  const std::size_t used = Heap::existing()->used_bytes();
  for (const std::size_t bytes : {1, 64, 65, 255, 4095, 4096, 70000}) {
    const auto memory = allocations.allocate(bytes, MemoryKind::device, 0);
    ASSERT_TRUE(memory);
    Allocations::give_back(*allocations.take(memory->data()));
    EXPECT_EQ(Heap::existing()->used_bytes(), used) << bytes;
  }
  Allocations::give_back(*allocations.take(keeps_the_heap->data()));
}

TEST(Allocations, RegisteredRangesDoNotOverlap) {
  auto& allocations = Allocations::of_process();
  std::array<std::byte, 100> own{};
  const std::span all(own);
  EXPECT_TRUE(allocations.add_registered(all.subspan(20, 30), 0, 0));
  EXPECT_FALSE(allocations.add_registered(all.subspan(49, 10), 0, 0));
  EXPECT_FALSE(allocations.add_registered(all.subspan(10, 11), 0, 0));
  EXPECT_FALSE(allocations.add_registered(all, 0, 0));
  EXPECT_TRUE(allocations.add_registered(all.subspan(50, 50), 0, 0));
  EXPECT_TRUE(allocations.add_registered(all.subspan(0, 20), 0, 0));
  for (const std::size_t at : {0, 20, 50}) EXPECT_TRUE(allocations.take(own.data() + at));
}

TEST(Allocations, ADeviceLosesItsOwnMemoryOnly) {
  auto& allocations = Allocations::of_process();
  const auto mine = allocations.allocate(10, MemoryKind::device, 5);
  const auto pinned = allocations.allocate(10, MemoryKind::pinned, 5);
  const auto other = allocations.allocate(10, MemoryKind::device, 6);
  ASSERT_TRUE(mine && pinned && other);
  const auto taken = allocations.take_all(5);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].bytes.data(), mine->data());
  Allocations::give_back(taken[0]);
  EXPECT_FALSE(allocations.find(mine->data()));
  for (const auto& memory : {*pinned, *other}) {
    const auto left = allocations.take(memory.data());
    ASSERT_TRUE(left);
    Allocations::give_back(*left);
  }
}

TEST(Allocations, ServeSeveralThreads) {
  auto& allocations = Allocations::of_process();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (std::size_t i = 1; i < 300; ++i) {
        const auto memory = allocations.allocate(i, MemoryKind::device, thread);
        ASSERT_TRUE(memory);
        ASSERT_EQ(allocations.find(memory->data() + i - 1)->device, thread);
        const auto taken = allocations.take(memory->data());
        ASSERT_TRUE(taken);
        Allocations::give_back(*taken);
      }
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace tutti::device

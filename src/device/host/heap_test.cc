#include "device/host/heap.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <functional>
#include <vector>

#include "os/thread.h"
#include "tutti/memory.h"

namespace tutti::device {
namespace {

// What the child's function returned as its exit status; -1 when it ended otherwise.
int status_of_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(work());
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

bool is_locked(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool is_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte value) { return value == std::byte{0}; });
}

std::size_t resident_bytes(const Heap& heap) {
  struct stat file {};
  return fstat(heap.fd(), &file) == 0 ? static_cast<std::size_t>(file.st_blocks) * 512 : 0;
}

// First, because it needs a process without a heap.
TEST(Heap, IsSmallerWhereTheAddressSpaceIsLimited) {
  if (Heap::existing() != nullptr) GTEST_SKIP() << "another test of this process made the heap";
#ifdef TUTTI_HAS_SANITIZER
  GTEST_SKIP() << "sanitizers need the address space for themselves";
#endif
  EXPECT_EQ(status_of_child([] {
              const rlimit limit{std::size_t{700} << 20, std::size_t{700} << 20};
              if (setrlimit(RLIMIT_AS, &limit) != 0) return 1;
              const auto heap = Heap::of_process();
              if (!heap) return 2;
              return (*heap)->limit_bytes() >= std::size_t{64} << 20 && (*heap)->allocate(4096) ? 0 : 3;
            }),
            0);
}

TEST(Heap, DoesNotExistBeforeItIsUsed) {
  if (Heap::existing() != nullptr) GTEST_SKIP() << "another test of this process made the heap";
  const auto heap = Heap::of_process();
  ASSERT_TRUE(heap) << heap.status().text();
  EXPECT_EQ(Heap::existing(), *heap);
  EXPECT_EQ(*Heap::of_process(), *heap);
  EXPECT_GE((*heap)->limit_bytes(), std::size_t{64} << 20);
  EXPECT_EQ((*heap)->used_bytes(), 0u);
}

TEST(Heap, PiecesAreAlignedAndZeroAlsoWhenUsedBefore) {
  const auto heap = Heap::of_process();
  ASSERT_TRUE(heap) << heap.status().text();
  const std::size_t used = (*heap)->used_bytes();
  for (int round = 0; round < 3; ++round) {
    std::vector<std::span<std::byte>> pieces;
    for (const std::size_t bytes : {1, 63, 64, 100, 4095, 4096, 5000, 65536, 100000, 3 << 20}) {
      const auto piece = (*heap)->allocate(bytes);
      ASSERT_TRUE(piece) << piece.status().text();
      EXPECT_EQ(piece->size(), bytes);
      const auto address = reinterpret_cast<std::uintptr_t>(piece->data());
      EXPECT_EQ(address % (bytes < 4096 ? 64 : 4096), 0u) << bytes;
      EXPECT_TRUE(is_zero(*piece)) << bytes << " in round " << round;
      std::memset(piece->data(), 0xff, bytes);
      pieces.push_back(*piece);
    }
    // In another order every time, so that later rounds get other neighbours.
    std::rotate(pieces.begin(), pieces.begin() + round * 3, pieces.end());
    for (const auto piece : pieces) (*heap)->free(piece);
  }
  EXPECT_EQ((*heap)->used_bytes(), used);
}

TEST(Heap, PagesOfLargePiecesGoBackToTheKernel) {
  const auto heap = Heap::of_process();
  ASSERT_TRUE(heap);
  const std::size_t before = resident_bytes(**heap);
  const auto piece = (*heap)->allocate(std::size_t{8} << 20);
  ASSERT_TRUE(piece);
  std::memset(piece->data(), 1, piece->size());
  EXPECT_GE(resident_bytes(**heap), piece->size());
  (*heap)->free(*piece);
  EXPECT_LE(resident_bytes(**heap), before);
}

TEST(Heap, TooMuchIsAnErrorThatSaysHowMuchThereIs) {
  const auto heap = Heap::of_process();
  ASSERT_TRUE(heap);
  for (const std::size_t bytes : {(*heap)->limit_bytes() + 1, ~std::size_t{0}}) {
    const auto piece = (*heap)->allocate(bytes);
    ASSERT_FALSE(piece);
    EXPECT_EQ(piece.status().code(), Code::out_of_memory);
    EXPECT_NE(piece.status().text().find("the largest free piece is"), std::string_view::npos);
  }
}

TEST(Heap, OffsetsAreThoseOfBytesThatLieInItWhole) {
  const auto heap = Heap::of_process();
  ASSERT_TRUE(heap);
  const Heap& there = **heap;
  const std::size_t limit = there.limit_bytes();
  EXPECT_EQ(there.offset_of(there.base(), limit), 0u);
  EXPECT_EQ(there.offset_of(there.base() + 4096, 10), 4096u);
  EXPECT_EQ(there.offset_of(there.base() + limit - 1, 1), limit - 1);
  EXPECT_EQ(there.offset_of(there.base() + limit - 1, 2), std::nullopt);
  EXPECT_EQ(there.offset_of(there.base() + 1, limit), std::nullopt);
  EXPECT_EQ(there.offset_of(there.base() + 1, ~std::size_t{0}), std::nullopt);
  EXPECT_EQ(there.offset_of(there.base() - 1, 1), std::nullopt);
  const int elsewhere = 0;
  EXPECT_EQ(there.offset_of(&elsewhere, sizeof(elsewhere)), std::nullopt);
}

TEST(Heap, ItsLockIsSeenByOthersForAsLongAsTheProcessLives) {
  const auto heap = Heap::of_process();
  ASSERT_TRUE(heap);
  EXPECT_EQ(status_of_child([&] { return is_locked((*heap)->fd()) ? 0 : 1; }), 0);
  // A child that closes its copy of the descriptor, as every child does when it ends, changes nothing.
  EXPECT_EQ(status_of_child([&] { return close((*heap)->fd()); }), 0);
  EXPECT_EQ(status_of_child([&] { return is_locked((*heap)->fd()) ? 0 : 1; }), 0);
}

TEST(Heap, AForkedChildGetsAnErrorAndHarmsNothing) {
  auto memory = allocate(std::size_t{1} << 20);
  ASSERT_TRUE(memory) << memory.status().text();
  memory->data()[0] = std::byte{42};
  EXPECT_EQ(status_of_child([&] {
              if (Heap::existing() != nullptr) return 1;
              const auto heap = Heap::of_process();
              if (heap || heap.status().code() != Code::invalid_usage) return 2;
              if (heap.status().text().find("fork before the first use") == std::string_view::npos) return 3;
              *memory = Memory();  // would punch a hole into what the parent reads
              return 0;
            }),
            0);
  EXPECT_EQ(memory->data()[0], std::byte{42});
}

TEST(Heap, ServesSeveralThreads) {
  const auto heap = Heap::of_process();
  ASSERT_TRUE(heap);
  const std::size_t used = (*heap)->used_bytes();
  {
    std::vector<os::Thread> threads;
    for (int i = 0; i < 4; ++i) {
      auto thread = os::Thread::start("allocates", [i] {
        for (std::size_t round = 0; round < 300; ++round) {
          const auto memory = allocate(64 * (1 + round % 50) * static_cast<std::size_t>(i + 1));
          ASSERT_TRUE(memory);
          ASSERT_TRUE(is_zero(memory->bytes()));
          std::memset(memory->data(), i + 1, memory->size());
        }
      });
      ASSERT_TRUE(thread);
      threads.push_back(*std::move(thread));
    }
  }
  EXPECT_EQ((*heap)->used_bytes(), used);
}

TEST(Memory, OwnsItsPiece) {
  const auto heap = Heap::of_process();
  ASSERT_TRUE(heap);
  const std::size_t used = (*heap)->used_bytes();
  {
    auto first = allocate(10000);
    ASSERT_TRUE(first) << first.status().text();
    EXPECT_TRUE(Heap::existing()->offset_of(first->data(), first->size()));
    Memory second = *std::move(first);
    EXPECT_EQ(first->size(), 0u);  // NOLINT: what a moved one is, is the claim
    EXPECT_EQ(second.as<float>().size(), 2500u);
    EXPECT_GT((*heap)->used_bytes(), used);
  }
  EXPECT_EQ((*heap)->used_bytes(), used);
  EXPECT_EQ(allocate(0)->size(), 0u);
}

}  // namespace
}  // namespace tutti::device

#include "os/segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace tutti::os {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kBytes = 64 * kPage;

std::size_t resident_bytes(const Segment& segment) {
  struct stat file {};
  EXPECT_EQ(fstat(segment.fd(), &file), 0);
  return static_cast<std::size_t>(file.st_blocks) * 512;
}

bool is_zero(const std::byte* data, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (data[i] != std::byte{0}) return false;
  }
  return true;
}

TEST(Segment, IsZeroAndSparseAtFirst) {
  const auto segment = Segment::create("test", std::size_t{1} << 40);
  ASSERT_TRUE(segment) << segment.status().text();
  EXPECT_EQ(segment->size(), std::size_t{1} << 40);
  EXPECT_EQ(resident_bytes(*segment), 0u);
  EXPECT_TRUE(is_zero(segment->data(), kPage));
}

TEST(Segment, TwoMappingsAreOneMemory) {
  const auto segment = Segment::create("test", kBytes);
  ASSERT_TRUE(segment);
  const auto other = Segment::adopt(FileDescriptor(dup(segment->fd())), kBytes);
  ASSERT_TRUE(other) << other.status().text();
  EXPECT_NE(segment->data(), other->data());
  segment->data()[5 * kPage + 1] = std::byte{42};
  EXPECT_EQ(other->data()[5 * kPage + 1], std::byte{42});
}

TEST(Segment, ReleasedPagesAreZeroAndCostNothing) {
  const auto segment = Segment::create("test", kBytes);
  ASSERT_TRUE(segment);
  std::memset(segment->data(), 0xff, kBytes);
  const std::size_t before = resident_bytes(*segment);
  const Status released = segment->release_pages(kPage, 32 * kPage);
  ASSERT_TRUE(released) << released.text();
  EXPECT_LE(resident_bytes(*segment), before - 32 * kPage);
  EXPECT_TRUE(is_zero(segment->data() + kPage, 32 * kPage));
  EXPECT_EQ(segment->data()[0], std::byte{0xff});
  EXPECT_EQ(segment->data()[33 * kPage], std::byte{0xff});
}

TEST(Segment, CannotBeShrunkByThoseWhoHaveIt) {
  const auto segment = Segment::create("test", kBytes);
  ASSERT_TRUE(segment);
  EXPECT_NE(ftruncate(segment->fd(), 0), 0);
  EXPECT_NE(fcntl(segment->fd(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0) << "nor made read only";
}

TEST(Segment, ShortUnsealedAndOtherFilesAreRefused) {
  const auto segment = Segment::create("test", kBytes);
  ASSERT_TRUE(segment);
  const auto longer = Segment::adopt(FileDescriptor(dup(segment->fd())), kBytes + 1);
  ASSERT_FALSE(longer);
  EXPECT_NE(longer.status().text().find("has 262144 bytes where 262145 were announced"), std::string_view::npos);

  FileDescriptor unsealed(memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(unsealed.get(), kBytes), 0);
  EXPECT_FALSE(Segment::adopt(std::move(unsealed), kBytes));
  EXPECT_FALSE(Segment::adopt(FileDescriptor(open("/dev/zero", O_RDWR | O_CLOEXEC)), kBytes));
  EXPECT_FALSE(Segment::adopt(FileDescriptor(), kBytes));
}

TEST(Segment, TheLimitOfFileSizesIsAnErrorAndNotASignal) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{kBytes, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto segment = Segment::create("test", 2 * kBytes);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(segment);
  EXPECT_EQ(segment.status().code(), Code::out_of_memory);
}

TEST(FileDescriptor, ClosesOnceAndMoves) {
  FileDescriptor first(open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(first.is_open());
  const int number = first.get();
  FileDescriptor second = std::move(first);
  EXPECT_FALSE(first.is_open());  // NOLINT: what a moved one is, is the claim
  EXPECT_EQ(second.get(), number);
  second = FileDescriptor();
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
}

}  // namespace
}  // namespace tutti::os

#include "tools/perf/image.h"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "base/random.h"

namespace tutti::perf {
namespace {

constexpr std::uint64_t kSeed = 11;

// A buffer of 300 elements: 100 of rank 1, 50 that stay poisoned, 150 of the reduction.
class ImageTest : public testing::Test {
 protected:
  ImageTest() : image_(pattern_, kSeed, 0, 300 * 4) {
    image_.add(0, 100, 1, 5);
    image_.add(150, 150, Pattern::kAllRanks, 0);
    whole_.resize(image_.bytes());
    image_.render(whole_, 0);
  }
  Image::Difference difference(const std::vector<std::byte>& found) const {
    Image::Difference result;
    image_.compare(found, 0, result);
    return result;
  }

  Pattern pattern_{*find_type("float"), Operation::sum, 3};
  Image image_;
  std::vector<std::byte> whole_;
};

TEST_F(ImageTest, IsLikeItself) {
  const Image::Difference result = difference(whole_);
  EXPECT_EQ(result.wrong, 0);
  EXPECT_EQ(result.outside, 0);
  EXPECT_EQ(result.first, "");
}

TEST_F(ImageTest, FindsOneFlippedBitWhereverItIs) {
  for (std::size_t at = 0; at < whole_.size(); at += at < kGuardBytes - 8 || at > kGuardBytes + 1208 ? 61 : 1) {
    auto found = whole_;
    found[at] ^= std::byte{1};
    const Image::Difference result = difference(found);
    const bool is_inside = at >= kGuardBytes && at < kGuardBytes + 1200;
    ASSERT_EQ(result.wrong, is_inside ? 1 : 0) << at;
    ASSERT_EQ(result.outside, is_inside ? 0 : 1) << at;
    ASSERT_NE(result.first, "") << at;
  }
}

TEST_F(ImageTest, FindsTheFirstAndTheLastByteOfTheGuards) {
  for (const std::size_t at : {std::size_t{0}, kGuardBytes - 1, kGuardBytes + 1200, whole_.size() - 1}) {
    auto found = whole_;
    found[at] = std::byte{0};
    EXPECT_EQ(difference(found).outside, 1) << at;
  }
}

TEST_F(ImageTest, SaysHowFarBeforeAndAfterTheBufferAByteWasWritten) {
  auto before = whole_;
  before[kGuardBytes - 3] = std::byte{0};
  EXPECT_EQ(difference(before).first, "a byte was written 3 bytes before the buffer begins");
  auto after = whole_;
  after[kGuardBytes + 1200] = std::byte{0};
  EXPECT_EQ(difference(after).first, "a byte was written 1 bytes after the buffer ends");
}

TEST_F(ImageTest, SaysWhichElementIsWhatInsteadOfWhat) {
  auto found = whole_;
  const float wrong = 2.5;
  const float zero = 0;
  std::memcpy(found.data() + kGuardBytes + 42 * 4, &wrong, 4);
  std::vector<std::byte> expected(4);
  image_.render(expected, kGuardBytes + 42 * 4);
  float right = 0;
  std::memcpy(&right, expected.data(), 4);
  const std::string sentence = difference(found).first;
  EXPECT_TRUE(sentence.starts_with("element 42 of the buffer is 2.5 (0x40200000) instead of ")) << sentence;
  std::memcpy(found.data() + kGuardBytes + 43 * 4, &zero, 4);
  EXPECT_EQ(difference(found).wrong, right == 0 ? 1 : 2);
}

TEST_F(ImageTest, WhatNobodyWroteIsPoison) {
  for (std::size_t at = kGuardBytes + 400; at < kGuardBytes + 600; ++at) ASSERT_EQ(whole_[at], std::byte{0xa5}) << at;
}

TEST_F(ImageTest, RendersPartsAsTheWhole) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    // Whole elements, as memory is read in parts that are.
    const std::uint64_t first = random.below(whole_.size() / 4) * 4;
    const std::uint64_t size = (1 + random.below((whole_.size() - first) / 4)) * 4;
    std::vector<std::byte> part(size);
    image_.render(part, first);
    ASSERT_EQ(std::memcmp(part.data(), whole_.data() + first, size), 0) << first << " " << size;
  }
}

TEST_F(ImageTest, ComparesPartsAsTheWhole) {
  auto found = whole_;
  for (std::size_t at = 1; at < found.size(); at += 397) found[at] ^= std::byte{0x10};
  const Image::Difference whole = difference(found);
  Image::Difference parts;
  for (std::size_t first = 0; first < found.size(); first += 1024) {
    const std::size_t size = std::min<std::size_t>(1024, found.size() - first);
    image_.compare(std::span(found).subspan(first, size), first, parts);
  }
  EXPECT_GT(whole.wrong, 0);
  EXPECT_GT(whole.outside, 0);
  EXPECT_EQ(parts.wrong, whole.wrong);
  EXPECT_EQ(parts.outside, whole.outside);
  EXPECT_EQ(parts.first, whole.first);
}

TEST_F(ImageTest, WhatIsAddedLaterLiesOnTop) {
  Image image(pattern_, kSeed, 0, 400);
  image.add(0, 100, 0, 0);
  image.add(50, 50, 1, 0);
  Image lower(pattern_, kSeed, 0, 400);
  lower.add(0, 100, 0, 0);
  Image upper(pattern_, kSeed, 0, 400);
  upper.add(50, 50, 1, 0);
  std::vector<std::byte> both(400);
  std::vector<std::byte> below(400);
  std::vector<std::byte> above(400);
  image.render(both, kGuardBytes);
  lower.render(below, kGuardBytes);
  upper.render(above, kGuardBytes);
  EXPECT_EQ(std::memcmp(both.data(), below.data(), 200), 0);
  EXPECT_EQ(std::memcmp(both.data() + 200, above.data() + 200, 200), 0);
  EXPECT_NE(std::memcmp(both.data() + 200, below.data() + 200, 200), 0);
}

TEST(Image, ToleratesWhatAnAverageMayDifferByAndNoMore) {
  const Pattern pattern(*find_type("float"), Operation::avg, 3);
  Image image(pattern, kSeed, 0, 4);
  image.add(0, 1, Pattern::kAllRanks, 0);
  std::vector<std::byte> found(image.bytes());
  image.render(found, 0);
  float value = 0;
  std::memcpy(&value, found.data() + kGuardBytes, 4);
  const auto wrong_at = [&](double by) {
    const auto moved = static_cast<float>(value + by);
    std::memcpy(found.data() + kGuardBytes, &moved, 4);
    Image::Difference difference;
    image.compare(found, 0, difference);
    return difference.wrong;
  };
  ASSERT_GT(pattern.tolerance(), 0);
  EXPECT_EQ(wrong_at(0.9 * pattern.tolerance()), 0);
  EXPECT_EQ(wrong_at(1.5 * pattern.tolerance() + 1), 1);
}

// A NaN differs from nothing by any amount.
TEST(Image, FindsANanWhereATolerantAverageShouldBe) {
  const Pattern pattern(*find_type("float"), Operation::avg, 3);
  Image image(pattern, kSeed, 0, 4);
  image.add(0, 1, Pattern::kAllRanks, 0);
  std::vector<std::byte> found(image.bytes());
  image.render(found, 0);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(found.data() + kGuardBytes, &nan, 4);
  Image::Difference difference;
  image.compare(found, 0, difference);
  EXPECT_EQ(difference.wrong, 1);
}

TEST(Image, GoesToADeviceAndBackWhateverItsSize) {
  const Pattern pattern(*find_type("half"), Operation::none, 2);
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{3} << 20}) {
    for (const std::uint64_t begin : {0, 6}) {
      Image image(pattern, kSeed, begin, bytes);
      image.add(0, bytes / 2, 1, 0);
      std::byte* memory = nullptr;  // of a virtual device, which is memory of the host
      ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory), image.bytes() + begin), cudaSuccess);
      ASSERT_TRUE(upload(image, memory));
      auto same = compare(image, memory);
      ASSERT_TRUE(same) << same.status().text();
      EXPECT_EQ(same->wrong + same->outside, 0) << bytes;
      memory[begin + image.bytes() - 1] ^= std::byte{1};
      memory[begin] ^= std::byte{1};
      if (bytes > 0) memory[begin + kGuardBytes + bytes / 2] ^= std::byte{1};
      auto changed = compare(image, memory);
      ASSERT_TRUE(changed) << changed.status().text();
      EXPECT_EQ(changed->outside, 2) << bytes;
      EXPECT_EQ(changed->wrong, bytes > 0 ? 1 : 0) << bytes;
      EXPECT_EQ(cudaFree(memory), cudaSuccess);
    }
  }
}

}  // namespace
}  // namespace tutti::perf

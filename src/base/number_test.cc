#include "base/number.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace tutti {
namespace {

template <class Format>
void every_pattern_round_trips(std::uint32_t patterns) {
  for (std::uint32_t bits = 0; bits < patterns; ++bits) {
    const float value = Format::decode(static_cast<typename Format::Bits>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(Format::decode(Format::encode(value)))) << bits;
    } else if (!std::isinf(value) || Format::encode(value) == bits) {
      EXPECT_EQ(Format::encode(value), bits);
    }
  }
}

TEST(Number, EveryPatternRoundTrips) {
  every_pattern_round_trips<Float16Format>(1 << 16);
  every_pattern_round_trips<Bfloat16Format>(1 << 16);
  every_pattern_round_trips<Float8e4m3Format>(1 << 8);
  every_pattern_round_trips<Float8e5m2Format>(1 << 8);
}

TEST(Number, KnownValues) {
  EXPECT_EQ(Float16Format::encode(1.0f), 0x3c00);
  EXPECT_EQ(Float16Format::encode(65504.0f), 0x7bff);
  EXPECT_EQ(Float16Format::encode(5.9604645e-8f), 0x0001) << "the smallest subnormal";
  EXPECT_EQ(Bfloat16Format::encode(1.0f), 0x3f80);
  EXPECT_EQ(Float8e4m3Format::encode(448.0f), 0x7e);
  EXPECT_EQ(Float8e4m3Format::encode(1.0f), 0x38);
  EXPECT_EQ(Float8e5m2Format::encode(57344.0f), 0x7b);
}

TEST(Number, RoundsToNearestTiesToEven) {
  EXPECT_EQ(Float16Format::decode(Float16Format::encode(2049.0f)), 2048.0f);
  EXPECT_EQ(Float16Format::decode(Float16Format::encode(2051.0f)), 2052.0f);
  EXPECT_EQ(Bfloat16Format::decode(Bfloat16Format::encode(257.0f)), 256.0f);
  EXPECT_EQ(Bfloat16Format::decode(Bfloat16Format::encode(259.0f)), 260.0f);
  EXPECT_EQ(Float16Format::encode(0.9999999f), 0x3c00) << "a carry out of the mantissa goes into the exponent";
}

TEST(Number, BfloatAgreesWithTheUpperHalfOfAFloat) {
  for (std::uint32_t i = 0; i < 200000; ++i) {
    const std::uint32_t bits = i * 21473u;
    const auto value = std::bit_cast<float>(bits);
    if (std::isnan(value)) continue;
    const std::uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1);
    ASSERT_EQ(Bfloat16Format::encode(value), rounded >> 16) << bits;
  }
}

TEST(Number, OverflowIsInfinityInHalfAndTheLargestNumberInEightBits) {
  EXPECT_EQ(Float16Format::encode(65520.0f), 0x7c00);
  EXPECT_EQ(Float16Format::encode(65519.0f), 0x7bff);
  EXPECT_EQ(Float8e4m3Format::encode(1e9f), 0x7e);
  EXPECT_EQ(Float8e4m3Format::encode(-INFINITY), 0xfe);
  EXPECT_EQ(Float8e5m2Format::encode(INFINITY), 0x7b);
  EXPECT_TRUE(std::isnan(Float8e4m3Format::decode(Float8e4m3Format::encode(NAN))));
  EXPECT_TRUE(std::isinf(Float8e5m2Format::decode(0x7c)));
}

}  // namespace
}  // namespace tutti

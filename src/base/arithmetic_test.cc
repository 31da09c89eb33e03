#include "base/arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/number.h"

namespace tutti {
namespace {

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

// value = inputs[0] (+) inputs[1] ... as one step of ranks that load inputs, finished and stored.
template <class T>
T reduce(DataType type, Op op, const std::vector<T>& inputs, double factor = 1) {
  const auto accumulator = create_accumulator(type, op, static_cast<Rank>(inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<T> one = {inputs[i]};
    i == 0 ? accumulator->assign_input(bytes_of(one), factor) : accumulator->add_input(bytes_of(one), factor);
  }
  accumulator->finish();
  std::vector<T> result(1);
  accumulator->store(std::as_writable_bytes(std::span(result)));
  return result[0];
}

TEST(Arithmetic, IntegersWrapAround) {
  EXPECT_EQ(reduce<std::int8_t>(DataType::int8, Op::sum, {127, 1}), -128);
  EXPECT_EQ(reduce<std::uint8_t>(DataType::uint8, Op::product, {16, 17}), 16);
  EXPECT_EQ(reduce<std::int32_t>(DataType::int32, Op::sum, {std::numeric_limits<std::int32_t>::max(), 1}),
            std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(reduce<std::int64_t>(DataType::int64, Op::product, {std::numeric_limits<std::int64_t>::max(), 2}), -2);
}

TEST(Arithmetic, AverageOfIntegersDividesTheWrappedSumTowardsZero) {
  EXPECT_EQ(reduce<std::int32_t>(DataType::int32, Op::average, {-7, 0}), -3);
  EXPECT_EQ(reduce<std::uint32_t>(DataType::uint32, Op::average, {7, 0}), 3u);
  EXPECT_EQ(reduce<std::int8_t>(DataType::int8, Op::average, {100, 20}), 60);
}

TEST(Arithmetic, AverageOfWideFloatsDividesTheSum) {
  EXPECT_EQ(reduce<float>(DataType::float32, Op::average, {0.1f, 0.1f, 0.1f}), (0.1f + 0.1f + 0.1f) / 3.0f);
  EXPECT_EQ(reduce<double>(DataType::float64, Op::average, {1.0, 2.0, 6.0}), 3.0);
}

TEST(Arithmetic, AverageOfHalvesDoesNotOverflowWhereTheResultFits) {
  const std::uint16_t large = Float16Format::encode(60000.0f);
  EXPECT_EQ(reduce<std::uint16_t>(DataType::float16, Op::average, {large, large, large, large}), large);
  EXPECT_EQ(reduce<std::uint16_t>(DataType::float16, Op::sum, {large, large}), 0x7c00);
}

TEST(Arithmetic, NarrowFloatsRoundOnceAStep) {
  const std::uint16_t big = Bfloat16Format::encode(256.0f);
  const std::uint16_t one = Bfloat16Format::encode(1.0f);
  EXPECT_EQ(Bfloat16Format::decode(reduce<std::uint16_t>(DataType::bfloat16, Op::sum, {big, one, one})), 258.0f)
      << "rounding after every addition would give 256";
}

TEST(Arithmetic, MinAndMaxNeverHideANan) {
  EXPECT_TRUE(std::isnan(reduce<float>(DataType::float32, Op::max, {NAN, 1.0f})));
  EXPECT_TRUE(std::isnan(reduce<float>(DataType::float32, Op::max, {1.0f, NAN})));
  EXPECT_TRUE(std::isnan(reduce<double>(DataType::float64, Op::min, {1.0, NAN, 2.0})));
  EXPECT_EQ(reduce<float>(DataType::float32, Op::max, {-1.0f, 3.0f, 2.0f}), 3.0f);
  EXPECT_EQ(reduce<std::int8_t>(DataType::int8, Op::min, {5, -3, 7}), -3);
}

TEST(Arithmetic, ScaledSumMultipliesEveryInput) {
  EXPECT_EQ(reduce<float>(DataType::float32, Op::scaled_sum, {1.0f, 2.0f}, 0.5), 1.5f);
  EXPECT_EQ(reduce<std::int32_t>(DataType::int32, Op::scaled_sum, {1, 2}, 3), 9);
}

TEST(Arithmetic, OnlyInputsAreScaledNotSumsOnTheWay) {
  const auto accumulator = create_accumulator(DataType::float32, Op::scaled_sum, 2);
  const std::vector<float> received = {10.0f};
  const std::vector<float> input = {4.0f};
  accumulator->assign(bytes_of(received));
  accumulator->add_input(bytes_of(input), 0.5);
  std::vector<float> result(1);
  accumulator->store(std::as_writable_bytes(std::span(result)));
  EXPECT_EQ(result[0], 12.0f);
}

}  // namespace
}  // namespace tutti

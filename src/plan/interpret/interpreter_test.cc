#include "plan/interpret/interpreter.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tutti::plan {
namespace {

constexpr std::uint32_t kSignallingNan = 0x7fa12345;

// What the rank of a call gets where everybody gives the bits of a NaN that no computation leaves as it is.
template <class Bits>
Bits result_of(std::string_view algorithm, Collective collective, Rank ranks, DataType type, Op op, Bits given) {
  Shape shape{.collective = collective, .ranks = ranks, .host_of = {}, .orders = {}};
  const auto plan = build(*find_algorithm(algorithm, collective), shape);
  if (!plan) return {};
  const auto maps = even_maps(*plan, 1);
  Memories memories = create_memories(maps, type);
  for (auto& bytes : memories.in) {
    for (std::size_t at = 0; at + sizeof(Bits) <= bytes.size(); at += sizeof(Bits)) {
      std::memcpy(bytes.data() + at, &given, sizeof(Bits));
    }
  }
  EXPECT_TRUE(interpret(*plan, maps, {.type = type, .op = op, .factors = {}}, memories).is_ok());
  Bits result{};
  std::memcpy(&result, memories.out.back().data(), sizeof(Bits));
  return result;
}

TEST(Interpreter, CopiesBitForBitWhatIsNeitherScaledNorDivided) {
  const std::uint16_t odd_nan = 0xfd01;  // not the NaN that float16 arithmetic gives
  EXPECT_EQ(result_of("chain", Collective::broadcast, 3, DataType::float16, Op::sum, odd_nan), odd_nan);
  EXPECT_EQ(result_of("ring", Collective::all_gather, 3, DataType::float32, Op::sum, kSignallingNan), kSignallingNan);
  EXPECT_EQ(result_of("alone", Collective::all_reduce, 1, DataType::float16, Op::sum, odd_nan), odd_nan);
  EXPECT_EQ(result_of("alone", Collective::all_reduce, 1, DataType::float32, Op::average, kSignallingNan),
            kSignallingNan);
}

TEST(Interpreter, ComputesWhatIsScaled) {
  const std::uint16_t odd_nan = 0xfd01;
  EXPECT_EQ(result_of("alone", Collective::all_reduce, 1, DataType::float16, Op::scaled_sum, odd_nan), 0x7e00);
  EXPECT_EQ(result_of("alone", Collective::all_reduce, 1, DataType::float16, Op::average, odd_nan), 0x7e00);
}

}  // namespace
}  // namespace tutti::plan

// The words that every layer shares: ranks, element types and reduction operations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti {

// A plain integer on purpose: algorithms do arithmetic on ranks (neighbours, halves, distances) in nearly every line.
using Rank = std::int32_t;
inline constexpr Rank kNoRank = -1;

enum class DataType : std::uint8_t {
  int8,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  float32,
  float64,
  bfloat16,
  float8e4m3,
  float8e5m2,
};
inline constexpr std::array kDataTypes = {
    DataType::int8,    DataType::uint8,    DataType::int32,      DataType::uint32,
    DataType::int64,   DataType::uint64,   DataType::float16,    DataType::float32,
    DataType::float64, DataType::bfloat16, DataType::float8e4m3, DataType::float8e5m2,
};

std::size_t size_of(DataType type);
std::string_view name_of(DataType type);
std::optional<DataType> data_type_of(std::string_view name);

enum class Op : std::uint8_t { sum, product, min, max, average, scaled_sum };
inline constexpr std::array kOps = {Op::sum, Op::product, Op::min, Op::max, Op::average, Op::scaled_sum};

std::string_view name_of(Op op);
std::optional<Op> op_of(std::string_view name);

}  // namespace tutti

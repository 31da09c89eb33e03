// The element types of typed calls: which C++ type is which DataType, and types for the formats that C++ has no name
// for.
#pragma once

#include <concepts>
#include <cstdint>

#include "tutti/types.h"

namespace tutti {

// Bits only: Tutti adds them up, programs convert them with whatever library they have.
struct Float16 {
  std::uint16_t bits;
};
struct Bfloat16 {
  std::uint16_t bits;
};
struct Float8e4m3 {
  std::uint8_t bits;
};
struct Float8e5m2 {
  std::uint8_t bits;
};

template <class T>
struct ElementTraits;  // defined for the types below only
template <DataType value>
struct ElementType {
  static constexpr DataType type = value;
};
template <>
struct ElementTraits<std::int8_t> : ElementType<DataType::int8> {};
template <>
struct ElementTraits<std::uint8_t> : ElementType<DataType::uint8> {};
template <>
struct ElementTraits<std::int32_t> : ElementType<DataType::int32> {};
template <>
struct ElementTraits<std::uint32_t> : ElementType<DataType::uint32> {};
template <>
struct ElementTraits<std::int64_t> : ElementType<DataType::int64> {};
template <>
struct ElementTraits<std::uint64_t> : ElementType<DataType::uint64> {};
template <>
struct ElementTraits<Float16> : ElementType<DataType::float16> {};
template <>
struct ElementTraits<Bfloat16> : ElementType<DataType::bfloat16> {};
template <>
struct ElementTraits<float> : ElementType<DataType::float32> {};
template <>
struct ElementTraits<double> : ElementType<DataType::float64> {};
template <>
struct ElementTraits<Float8e4m3> : ElementType<DataType::float8e4m3> {};
template <>
struct ElementTraits<Float8e5m2> : ElementType<DataType::float8e5m2> {};

template <class T>
concept Element = requires {
  { ElementTraits<T>::type } -> std::convertible_to<DataType>;
};

}  // namespace tutti

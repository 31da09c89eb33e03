// The number formats that C++ has no type for, defined bit by bit: half precision, bfloat16 and the two 8-bit floats.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tutti {

// A small IEEE-like float of 1 sign bit, `exponent_bits` and `mantissa_bits`, rounded to nearest, ties to even.
template <class BitsType, int exponent_bits, int mantissa_bits, bool has_infinity, bool saturates>
struct SmallFloat {
  using Bits = BitsType;
  static constexpr int kBias = (1 << (exponent_bits - 1)) - 1;
  static constexpr std::uint32_t kSign = 1u << (exponent_bits + mantissa_bits);
  static constexpr std::uint32_t kInfinity = ((1u << exponent_bits) - 1) << mantissa_bits;
  // Without infinities the largest exponent is used for numbers too, but for the last pattern, which is NaN.
  static constexpr std::uint32_t kNan = has_infinity ? kInfinity | (1u << (mantissa_bits - 1)) : kSign - 1;
  static constexpr std::uint32_t kLargest = has_infinity ? kInfinity - 1 : kNan - 1;

  static float decode(Bits bits) {
    const std::uint32_t magnitude = bits & (kSign - 1);
    const float sign = (bits & kSign) != 0 ? -1.0f : 1.0f;
    if (has_infinity ? magnitude > kInfinity : magnitude == kNan) return std::numeric_limits<float>::quiet_NaN();
    if (has_infinity && magnitude == kInfinity) return sign * std::numeric_limits<float>::infinity();
    const int exponent = static_cast<int>(magnitude >> mantissa_bits);
    const auto mantissa = static_cast<float>(magnitude & ((1u << mantissa_bits) - 1));
    constexpr float kUnit = 1u << mantissa_bits;
    if (exponent == 0) return sign * std::ldexp(mantissa / kUnit, 1 - kBias);
    return sign * std::ldexp(1.0f + mantissa / kUnit, exponent - kBias);
  }

  static Bits encode(float value) {
    const std::uint32_t sign = std::signbit(value) ? kSign : 0;
    if (std::isnan(value)) return static_cast<Bits>(kNan);
    const double magnitude = std::fabs(static_cast<double>(value));
    if (magnitude == 0) return static_cast<Bits>(sign);
    if (std::isinf(magnitude)) return static_cast<Bits>(sign | overflow());
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    exponent = std::max(exponent - 1, 1 - kBias);
    // In units of the last place, rounded; a carry out of the mantissa moves into the exponent by itself.
    const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent)));
    const bool is_subnormal = exponent == 1 - kBias && units < (1u << mantissa_bits);
    const std::uint32_t bits =
        is_subnormal ? units
                     : (static_cast<std::uint32_t>(exponent + kBias) << mantissa_bits) + units - (1u << mantissa_bits);
    return static_cast<Bits>(sign | (bits > kLargest ? overflow() : bits));
  }

 private:
  static constexpr std::uint32_t overflow() { return saturates ? kLargest : kInfinity; }
};

using Float16Format = SmallFloat<std::uint16_t, 5, 10, true, false>;
using Bfloat16Format = SmallFloat<std::uint16_t, 8, 7, true, false>;
// Out of range saturates, as the conversions of the hardware that has these formats do.
using Float8e4m3Format = SmallFloat<std::uint8_t, 4, 3, false, true>;
using Float8e5m2Format = SmallFloat<std::uint8_t, 5, 2, true, true>;

}  // namespace tutti

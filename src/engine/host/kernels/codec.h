// The 8- and 16-bit floats of base/number.h converted by a few integer operations, without branches, for fast loops.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/number.h"

namespace tutti::engine {

// What the conversions of a format are made of, shared by the scalar and the vector forms.
template <class Format>
struct CodecConstants {
  using Bits = typename Format::Bits;
  static constexpr int kMantissaBits = std::countr_zero(Format::kInfinity);
  static constexpr int kShift = 23 - kMantissaBits;  // between the mantissas of float32 and the format
  static constexpr int kSignShift = std::countl_zero(Format::kSign);
  static constexpr bool kHasInfinity = Format::kLargest < Format::kInfinity;
  static constexpr std::uint32_t kMagnitudes = Format::kSign - 1;
  // What is stored for numbers out of range: the formats of 8 bits saturate.
  static constexpr std::uint32_t kOverflow = sizeof(Bits) == 1 ? Format::kLargest : Format::kInfinity;
  // The difference of the biases, where float32 has its exponent. Zero: both have the same subnormal numbers.
  static constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - Format::kBias) << 23;
  static constexpr std::uint32_t kSmallestNormal = kRebias + (1u << 23);  // as float32
  // The unit in the last place of this float32 is the smallest subnormal number of the format. Adding it rounds to
  // that unit.
  static constexpr std::uint32_t kSubnormalRounder = static_cast<std::uint32_t>(1 - Format::kBias - kMantissaBits + 150)
                                                     << 23;
  static constexpr std::uint32_t kRoundingBelowHalf = (1u << (kShift - 1)) - 1;
  static constexpr std::uint32_t kFloatInfinity = 0x7f800000;
  static constexpr std::uint32_t kFloatQuietNan = 0x7fc00000;
};

template <class Format>
struct Codec : CodecConstants<Format> {
  using C = CodecConstants<Format>;
  using Bits = typename Format::Bits;

  static float decode(Bits bits) {
    const std::uint32_t magnitude = bits & C::kMagnitudes;
    const std::uint32_t sign = (bits & Format::kSign) << C::kSignShift;
    const std::uint32_t shifted = magnitude << C::kShift;
    std::uint32_t value = shifted + C::kRebias;
    if constexpr (C::kHasInfinity) {
      value += magnitude >= Format::kInfinity ? C::kRebias : 0;
    } else {
      value = magnitude == Format::kNan ? C::kFloatQuietNan : value;
    }
    if constexpr (C::kRebias != 0) {
      // The leading one that a subnormal number does not have is added by the exponent and taken away as a float.
      const float subnormal =
          std::bit_cast<float>(shifted + C::kSmallestNormal) - std::bit_cast<float>(C::kSmallestNormal);
      value = magnitude < (1u << C::kMantissaBits) ? std::bit_cast<std::uint32_t>(subnormal) : value;
    }
    return std::bit_cast<float>(value | sign);
  }

  static Bits encode(float value) {
    const auto all = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = all & 0x7fffffff;
    const std::uint32_t odd = (magnitude >> C::kShift) & 1;
    // A carry out of the mantissa moves into the exponent by itself.
    std::uint32_t bits = (magnitude - C::kRebias + C::kRoundingBelowHalf + odd) >> C::kShift;
    bits = std::min(bits, C::kOverflow);
    if constexpr (C::kRebias != 0) {
      const float rounded = std::bit_cast<float>(magnitude) + std::bit_cast<float>(C::kSubnormalRounder);
      const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(rounded) - C::kSubnormalRounder;
      bits = magnitude < C::kSmallestNormal ? subnormal : bits;
    }
    bits |= (all >> C::kSignShift) & Format::kSign;
    bits = magnitude > C::kFloatInfinity ? Format::kNan : bits;
    return static_cast<Bits>(bits);
  }
};

}  // namespace tutti::engine

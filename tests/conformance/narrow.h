// The floats that C++ has no type for, with the little arithmetic that comparing results takes. Exact for integers that
// the format holds, and only such are used.
#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "base/number.h"

namespace tutti::conformance {

template <class Format>
struct Narrow {
  typename Format::Bits bits = 0;

  Narrow() = default;
  explicit Narrow(double value) : bits(Format::encode(static_cast<float>(value))) {}
  double value() const { return static_cast<double>(Format::decode(bits)); }

  Narrow& operator+=(Narrow other) { return *this = Narrow(value() + other.value()); }
  Narrow& operator*=(Narrow other) { return *this = Narrow(value() * other.value()); }
  friend Narrow operator*(Narrow a, Narrow b) { return a *= b; }
  friend Narrow operator/(Narrow a, Narrow b) { return Narrow(a.value() / b.value()); }
  friend bool operator<(Narrow a, Narrow b) { return a.value() < b.value(); }
  bool operator==(const Narrow&) const = default;
};

// Values below this can be added up over a few ranks, also when they are multiplied by the ranks' factors.
template <class T>
inline constexpr std::uint64_t kValues = sizeof(T) == 1 ? 5 : 50;
template <>
inline constexpr std::uint64_t kValues<Narrow<Bfloat16Format>> = 10;
template <>
inline constexpr std::uint64_t kValues<Narrow<Float8e4m3Format>> = 2;
template <>
inline constexpr std::uint64_t kValues<Narrow<Float8e5m2Format>> = 2;

template <class T>
inline constexpr bool kIsEightBitFloat = kValues<T> == 2;

}  // namespace tutti::conformance

template <class Format>
struct fmt::formatter<tutti::conformance::Narrow<Format>> : fmt::formatter<double> {
  template <class Context>
  auto format(tutti::conformance::Narrow<Format> number, Context& context) const {
    return fmt::formatter<double>::format(number.value(), context);
  }
};

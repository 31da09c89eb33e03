#include "base/arithmetic.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/assert.h"
#include "base/number.h"

namespace tutti {

namespace {

// How a type is stored and in what it is computed.
template <class T>
struct Plain {
  using Bits = T;
  using Wide = T;
  static constexpr bool kScalesInputsOfAverage = false;
  static Wide decode(Bits bits) { return bits; }
  static Bits encode(Wide value) { return value; }
};

template <class Format>
struct Narrow {
  using Bits = typename Format::Bits;
  using Wide = float;
  static constexpr bool kScalesInputsOfAverage = true;
  static Wide decode(Bits bits) { return Format::decode(bits); }
  static Bits encode(Wide value) { return Format::encode(value); }
};

// Integers wrap: computed without sign, where overflow is defined, and wide enough for int8 * int8 not to be promoted.
template <class T>
T wrapping(T a, T b, bool multiply) {
  using Unsigned = std::make_unsigned_t<T>;
  using Computed = std::conditional_t<(sizeof(T) < 4), std::uint32_t, Unsigned>;
  const auto x = static_cast<Computed>(static_cast<Unsigned>(a));
  const auto y = static_cast<Computed>(static_cast<Unsigned>(b));
  return static_cast<T>(static_cast<Unsigned>(multiply ? x * y : x + y));
}

template <class T>
T combine(Op op, T a, T b) {
  switch (op) {
    case Op::sum:
    case Op::average:
    case Op::scaled_sum:
      if constexpr (std::is_integral_v<T>) return wrapping(a, b, false);
      return a + b;
    case Op::product:
      if constexpr (std::is_integral_v<T>) return wrapping(a, b, true);
      return a * b;
    case Op::min: return a < b || a != a ? a : b;  // a != a: a NaN stays
    case Op::max: return a > b || a != a ? a : b;
  }
  return a;
}

template <class T>
T scaled(T value, double factor) {
  if constexpr (std::is_integral_v<T>) return wrapping(value, static_cast<T>(factor), true);
  return value * static_cast<T>(factor);
}

template <class Format>
class TypedAccumulator final : public Accumulator {
  using Bits = typename Format::Bits;
  using Wide = typename Format::Wide;

 public:
  TypedAccumulator(Op op, Rank ranks) : op_(op), ranks_(ranks) {}

  void assign(std::span<const std::byte> elements) override {
    values_.resize(elements.size() / sizeof(Bits));
    for_each(elements, [this](std::size_t i, Wide value) { values_[i] = value; });
  }
  void assign_input(std::span<const std::byte> elements, double factor) override {
    values_.resize(elements.size() / sizeof(Bits));
    for_each(elements, [&](std::size_t i, Wide value) { values_[i] = input(value, factor); });
  }
  void add(std::span<const std::byte> elements) override {
    for_each(elements, [this](std::size_t i, Wide value) { values_[i] = combine(op_, values_[i], value); });
  }
  void add_input(std::span<const std::byte> elements, double factor) override {
    for_each(elements, [&](std::size_t i, Wide value) { values_[i] = combine(op_, values_[i], input(value, factor)); });
  }
  void finish() override {
    if (op_ != Op::average || Format::kScalesInputsOfAverage) return;
    // Divided in 64 bits, since a rank count may not fit the type.
    for (Wide& value : values_) {
      if constexpr (std::is_integral_v<Wide>) {
        using Computed = std::conditional_t<std::is_signed_v<Wide>, std::int64_t, std::uint64_t>;
        value = static_cast<Wide>(static_cast<Computed>(value) / static_cast<Computed>(ranks_));
      } else {
        value /= static_cast<Wide>(ranks_);
      }
    }
  }
  void store(std::span<std::byte> elements) const override {
    TUTTI_ASSERT(elements.size() == values_.size() * sizeof(Bits), "a value fills its target");
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Bits bits = Format::encode(values_[i]);
      std::memcpy(elements.data() + i * sizeof(Bits), &bits, sizeof(Bits));
    }
  }

 private:
  template <class Each>
  void for_each(std::span<const std::byte> elements, Each each) {
    TUTTI_ASSERT(elements.size() == values_.size() * sizeof(Bits), "sources of a step have the same size");
    for (std::size_t i = 0; i < values_.size(); ++i) {
      Bits bits;
      std::memcpy(&bits, elements.data() + i * sizeof(Bits), sizeof(Bits));
      each(i, Format::decode(bits));
    }
  }
  Wide input(Wide value, double factor) const {
    if (op_ == Op::scaled_sum) return scaled(value, factor);
    if constexpr (Format::kScalesInputsOfAverage) {
      if (op_ == Op::average) return value * (1.0f / static_cast<float>(ranks_));
    }
    return value;
  }

  Op op_;
  Rank ranks_;
  std::vector<Wide> values_;
};

bool is_narrow_float(DataType type) {
  switch (type) {
    case DataType::float16:
    case DataType::bfloat16:
    case DataType::float8e4m3:
    case DataType::float8e5m2: return true;
    case DataType::int8:
    case DataType::uint8:
    case DataType::int32:
    case DataType::uint32:
    case DataType::int64:
    case DataType::uint64:
    case DataType::float32:
    case DataType::float64: return false;
  }
  return false;
}

}  // namespace

bool scales_inputs(DataType type, Op op) {
  return op == Op::scaled_sum || (op == Op::average && is_narrow_float(type));
}

bool divides_sums(DataType type, Op op, Rank ranks) { return op == Op::average && !is_narrow_float(type) && ranks > 1; }

std::unique_ptr<Accumulator> create_accumulator(DataType type, Op op, Rank ranks) {
  switch (type) {
    case DataType::int8: return std::make_unique<TypedAccumulator<Plain<std::int8_t>>>(op, ranks);
    case DataType::uint8: return std::make_unique<TypedAccumulator<Plain<std::uint8_t>>>(op, ranks);
    case DataType::int32: return std::make_unique<TypedAccumulator<Plain<std::int32_t>>>(op, ranks);
    case DataType::uint32: return std::make_unique<TypedAccumulator<Plain<std::uint32_t>>>(op, ranks);
    case DataType::int64: return std::make_unique<TypedAccumulator<Plain<std::int64_t>>>(op, ranks);
    case DataType::uint64: return std::make_unique<TypedAccumulator<Plain<std::uint64_t>>>(op, ranks);
    case DataType::float16: return std::make_unique<TypedAccumulator<Narrow<Float16Format>>>(op, ranks);
    case DataType::float32: return std::make_unique<TypedAccumulator<Plain<float>>>(op, ranks);
    case DataType::float64: return std::make_unique<TypedAccumulator<Plain<double>>>(op, ranks);
    case DataType::bfloat16: return std::make_unique<TypedAccumulator<Narrow<Bfloat16Format>>>(op, ranks);
    case DataType::float8e4m3: return std::make_unique<TypedAccumulator<Narrow<Float8e4m3Format>>>(op, ranks);
    case DataType::float8e5m2: return std::make_unique<TypedAccumulator<Narrow<Float8e5m2Format>>>(op, ranks);
  }
  return nullptr;
}

}  // namespace tutti

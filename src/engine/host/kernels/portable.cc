#include "engine/host/kernels/portable.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "engine/host/kernels/codec.h"

namespace tutti::engine {

namespace {

// How a type is stored and in what it is computed.
template <class T>
struct Plain {
  using Bits = T;
  using Wide = T;
  static Wide decode(Bits bits) { return bits; }
  static Bits encode(Wide value) { return value; }
};
template <class Format>
struct Narrow {
  using Bits = typename Format::Bits;
  using Wide = float;
  static Wide decode(Bits bits) { return Codec<Format>::decode(bits); }
  static Bits encode(Wide value) { return Codec<Format>::encode(value); }
};

// Integers wrap: computed without sign, where overflow is defined, and wide enough not to be promoted to int.
template <class T>
using Unsigned = std::conditional_t<(sizeof(T) < 8), std::uint32_t, std::uint64_t>;

struct Add {
  template <class T>
  static T combine(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
    } else {
      return a + b;
    }
  }
};
struct Multiply {
  template <class T>
  static T combine(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Unsigned<T>>(a) * static_cast<Unsigned<T>>(b));
    } else {
      return a * b;
    }
  }
};
struct Smaller {
  template <class T>
  static T combine(T a, T b) {
    return a < b || a != a ? a : b;  // a != a: a NaN stays
  }
};
struct Larger {
  template <class T>
  static T combine(T a, T b) {
    return a > b || a != a ? a : b;
  }
};

// Values of a block stay on the stack, in the caches nearest to the core, while the sources are gone through.
constexpr std::size_t kBlockElements = 512;

template <class Format>
typename Format::Wide element(const std::byte* elements, std::size_t i) {
  typename Format::Bits bits;
  std::memcpy(&bits, elements + i * sizeof(bits), sizeof(bits));
  return Format::decode(bits);
}

template <class Wide>
void divide(Wide* values, std::size_t count, Rank by) {
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<Wide>) {
      // In 64 bits, since a rank count may not fit the type.
      using Computed = std::conditional_t<std::is_signed_v<Wide>, std::int64_t, std::uint64_t>;
      values[i] = static_cast<Wide>(static_cast<Computed>(values[i]) / static_cast<Computed>(by));
    } else {
      values[i] /= static_cast<Wide>(by);
    }
  }
}

template <class Format, class Operation>
void combine_block(const Operands& operands, std::size_t begin, std::size_t count, typename Format::Wide* values) {
  using Wide = typename Format::Wide;
  for (std::size_t s = 0; s < operands.sources.size(); ++s) {
    const std::byte* source = operands.sources[s] + begin * sizeof(typename Format::Bits);
    const double factor = operands.factors != nullptr ? operands.factors[s] : 1;
    if (factor != 1) {
      const auto multiplier = static_cast<Wide>(factor);
      for (std::size_t i = 0; i < count; ++i) {
        const Wide value = Multiply::combine(element<Format>(source, i), multiplier);
        values[i] = s == 0 ? value : Operation::combine(values[i], value);
      }
    } else if (s == 0) {
      for (std::size_t i = 0; i < count; ++i) values[i] = element<Format>(source, i);
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        values[i] = Operation::combine(values[i], element<Format>(source, i));
      }
    }
  }
}

template <class Format, class Operation>
void reduce(const Operands& operands) {
  using Bits = typename Format::Bits;
  typename Format::Wide values[kBlockElements];
  Bits encoded[kBlockElements];
  for (std::size_t begin = 0; begin < operands.elements; begin += kBlockElements) {
    const std::size_t count = std::min<std::size_t>(kBlockElements, operands.elements - begin);
    combine_block<Format, Operation>(operands, begin, count, values);
    if (operands.divide_by != 1) divide(values, count, operands.divide_by);
    for (std::size_t i = 0; i < count; ++i) encoded[i] = Format::encode(values[i]);
    for (std::byte* target : operands.targets) {
      std::memcpy(target + begin * sizeof(Bits), encoded, count * sizeof(Bits));
    }
  }
}

template <class Format>
Kernel kernel_for(Op op) {
  switch (op) {
    case Op::sum:
    case Op::average:
    case Op::scaled_sum: return reduce<Format, Add>;
    case Op::product: return reduce<Format, Multiply>;
    case Op::min: return reduce<Format, Smaller>;
    case Op::max: return reduce<Format, Larger>;
  }
  return nullptr;
}

template <class Format>
void narrow(const std::byte* from, std::byte* to, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) {
    const typename Format::Bits bits = Format::encode(element<Plain<float>>(from, i));
    std::memcpy(to + i * sizeof(bits), &bits, sizeof(bits));
  }
}

template <class Format>
void widen(const std::byte* from, std::byte* to, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) {
    const float value = element<Format>(from, i);
    std::memcpy(to + i * sizeof(value), &value, sizeof(value));
  }
}

}  // namespace

Conversion portable_conversion_of(DataType type) {
  if (type == DataType::float16) return {narrow<Narrow<Float16Format>>, widen<Narrow<Float16Format>>};
  if (type == DataType::bfloat16) return {narrow<Narrow<Bfloat16Format>>, widen<Narrow<Bfloat16Format>>};
  return {};
}

Kernel portable_kernel_of(DataType type, Op op) {
  switch (type) {
    case DataType::int8: return kernel_for<Plain<std::int8_t>>(op);
    case DataType::uint8: return kernel_for<Plain<std::uint8_t>>(op);
    case DataType::int32: return kernel_for<Plain<std::int32_t>>(op);
    case DataType::uint32: return kernel_for<Plain<std::uint32_t>>(op);
    case DataType::int64: return kernel_for<Plain<std::int64_t>>(op);
    case DataType::uint64: return kernel_for<Plain<std::uint64_t>>(op);
    case DataType::float16: return kernel_for<Narrow<Float16Format>>(op);
    case DataType::float32: return kernel_for<Plain<float>>(op);
    case DataType::float64: return kernel_for<Plain<double>>(op);
    case DataType::bfloat16: return kernel_for<Narrow<Bfloat16Format>>(op);
    case DataType::float8e4m3: return kernel_for<Narrow<Float8e4m3Format>>(op);
    case DataType::float8e5m2: return kernel_for<Narrow<Float8e5m2Format>>(op);
  }
  return nullptr;
}

void portable_copy(const std::byte* source, std::span<std::byte* const> targets, std::size_t bytes,
                   bool /*streaming*/) {
  constexpr std::size_t kBlockBytes = 16384;  // stays near the core while it goes to all targets
  for (std::size_t begin = 0; begin < bytes; begin += kBlockBytes) {
    const std::size_t count = std::min(kBlockBytes, bytes - begin);
    for (std::byte* target : targets) std::memcpy(target + begin, source + begin, count);
  }
}

}  // namespace tutti::engine

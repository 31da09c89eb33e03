#include "tests/nccl_programs/reduction.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/number.h"
#include "base/random.h"

namespace tutti::programs {
namespace {

template <class T>
struct Plain {
  using Bits = T;
  static constexpr bool kIsNarrow = false;
  // Integers up to it have no gaps.
  static constexpr double kExactMax = std::is_same_v<T, float> ? 0x1p24 : 0x1p53;
  static double decode(T bits) { return static_cast<double>(bits); }
  static T encode(double value) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<std::int64_t>(value));
    return static_cast<T>(value);
  }
};

template <class Format, int exact_bits>
struct Narrow {
  using Bits = typename Format::Bits;
  static constexpr bool kIsNarrow = true;
  static constexpr double kExactMax = 1 << exact_bits;
  static double decode(Bits bits) { return Format::decode(bits); }
  static Bits encode(double value) { return Format::encode(static_cast<float>(value)); }
};

template <class Use>
auto with_type(ncclDataType_t type, Use use) {
  switch (type) {
    case ncclInt8: return use(Plain<std::int8_t>());
    case ncclUint8: return use(Plain<std::uint8_t>());
    case ncclInt32: return use(Plain<std::int32_t>());
    case ncclUint32: return use(Plain<std::uint32_t>());
    case ncclInt64: return use(Plain<std::int64_t>());
    case ncclUint64: return use(Plain<std::uint64_t>());
    case ncclFloat16: return use(Narrow<Float16Format, 11>());
    case ncclFloat32: return use(Plain<float>());
    case ncclFloat64: return use(Plain<double>());
    case ncclBfloat16: return use(Narrow<Bfloat16Format, 8>());
    case ncclFloat8e4m3: return use(Narrow<Float8e4m3Format, 4>());
    case ncclFloat8e5m2: break;
    case ncclNumTypes: break;
  }
  return use(Narrow<Float8e5m2Format, 3>());
}

template <class T>
T load(std::span<const std::byte> bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store(std::span<std::byte> bytes, std::size_t index, T value) {
  std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof(T));
}

// Integers wrap around, so no order matters.
template <class T>
T reduce_integers(const Reduced& how, const std::vector<T>& values) {
  using Wide = std::uint64_t;
  Wide result = how.op == ncclProd && how.factors.empty() ? 1 : 0;
  if (how.factors.empty() && how.op == ncclMax) return *std::ranges::max_element(values);
  if (how.factors.empty() && how.op == ncclMin) return *std::ranges::min_element(values);
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    const Wide value = static_cast<Wide>(values[rank]);
    if (!how.factors.empty())
      result += value * static_cast<Wide>(how.factors[rank]);
    else if (how.op == ncclProd)
      result *= value;
    else
      result += value;
  }
  const T wrapped = static_cast<T>(result);
  if (!how.factors.empty() || how.op != ncclAvg) return wrapped;
  using Computed = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  return static_cast<T>(static_cast<Computed>(wrapped) / static_cast<Computed>(values.size()));
}

bool is_plain_integer(double value) {
  return std::isfinite(value) && std::trunc(value) == value && std::fabs(value) <= 0x1p30 &&
         !(value == 0 && std::signbit(value));
}

// Every sum of some of the values is an integer that the type has.
template <class Format>
bool sum_exactly(const std::vector<double>& values, double& sum) {
  double magnitude = 0;
  sum = 0;
  for (const double value : values) {
    magnitude += std::fabs(value);
    sum += value;
  }
  return magnitude <= Format::kExactMax;
}

template <class Format>
bool average_exactly(std::vector<double> values, double& result) {
  const auto size = static_cast<double>(values.size());
  double sum = 0;
  if (!sum_exactly<Format>(values, sum)) return false;
  if constexpr (Format::kIsNarrow) {
    // Every input is multiplied by 1/n, which is exact for powers of two. Otherwise the products are nearly integers,
    // and their sum is rounded to one; only sums that cancel out would show the difference.
    const bool is_power = (values.size() & (values.size() - 1)) == 0;
    const bool is_multiple =
        std::ranges::all_of(values, [&](double value) { return value >= 0 && std::fmod(value, size) == 0; });
    if (!is_power && !is_multiple) return false;
    result = sum / size;
    return true;
  }
  using T = typename Format::Bits;
  result = static_cast<double>(static_cast<T>(sum) / static_cast<T>(size));
  return true;
}

template <class Format>
bool reduce_floats(const Reduced& how, std::vector<double> values, double& result) {
  if (!std::ranges::all_of(values, is_plain_integer)) return false;
  if (!how.factors.empty()) {
    for (std::size_t rank = 0; rank < values.size(); ++rank) {
      if (values[rank] < 0 && how.factors[rank] == 0) return false;  // a zero with a sign
      values[rank] *= how.factors[rank];
    }
    return sum_exactly<Format>(values, result);
  }
  if (how.op == ncclMax) result = *std::ranges::max_element(values);
  if (how.op == ncclMin) result = *std::ranges::min_element(values);
  if (how.op == ncclSum) return sum_exactly<Format>(values, result);
  if (how.op == ncclAvg) return average_exactly<Format>(std::move(values), result);
  if (how.op != ncclProd) return true;
  double magnitude = 1;
  result = 1;
  for (const double value : values) {
    magnitude *= std::max(1.0, std::fabs(value));
    result *= value;
  }
  return magnitude <= Format::kExactMax;
}

int value_of(const Reduced& how, double exact_max, int rank, int size, std::uint64_t chance) {
  const int turn =
      static_cast<int>((static_cast<std::uint64_t>(rank) + (chance >> 32)) % static_cast<std::uint64_t>(size));
  const int limit = static_cast<int>(std::min(exact_max, 1000.0));
  Random random(chance + static_cast<std::uint64_t>(rank));
  const int draw = static_cast<int>(random.below(1000));
  const bool divides_sum = how.op == ncclAvg && exact_max > 0x1p20;
  if (!how.factors.empty() || how.op == ncclSum || divides_sum) {
    const int most = how.factors.empty() ? 1 : *std::ranges::max_element(how.factors);
    const int each = limit / (size * std::max(most, 1));
    if (each == 0) return turn < limit / std::max(most, 1) ? 1 : 0;
    // A negative number times 0 would be a zero with a sign.
    return how.factors.empty() ? draw % (2 * each + 1) - each : draw % (each + 1);
  }
  if (how.op == ncclProd) return turn < 3 && draw % 2 == 0 ? 2 : 1;
  if (how.op == ncclAvg) return size <= limit && turn < limit / size ? size : 0;
  return draw % (2 * limit + 1) - limit;
}

}  // namespace

bool reduce_exactly(const Reduced& how, const std::vector<std::span<const std::byte>>& inputs,
                    std::span<std::byte> out) {
  return with_type(how.type, [&]<class Format>(Format) {
    using T = typename Format::Bits;
    for (std::size_t index = 0; index < out.size() / sizeof(T); ++index) {
      if constexpr (std::is_integral_v<T> && !Format::kIsNarrow) {
        std::vector<T> values;
        for (const auto& input : inputs) values.push_back(load<T>(input, index));
        store(out, index, reduce_integers(how, values));
      } else {
        std::vector<double> values;
        for (const auto& input : inputs) values.push_back(Format::decode(load<T>(input, index)));
        double result = 0;
        if (!reduce_floats<Format>(how, std::move(values), result)) return false;
        store(out, index, Format::encode(result));
      }
    }
    return true;
  });
}

void fill(const Reduced& how, std::uint64_t seed, int rank, int size, std::span<std::byte> elements) {
  with_type(how.type, [&]<class Format>(Format) {
    using T = typename Format::Bits;
    for (std::size_t index = 0; index < elements.size() / sizeof(T); ++index) {
      const std::uint64_t chance = Random(seed + index).next();
      store(elements, index, Format::encode(value_of(how, Format::kExactMax, rank, size, chance)));
    }
    return true;
  });
}

std::vector<std::byte> scalar_of(ncclDataType_t type, int factor) {
  return with_type(type, [&]<class Format>(Format) {
    std::vector<std::byte> bytes(sizeof(typename Format::Bits));
    store(bytes, 0, Format::encode(factor));
    return bytes;
  });
}

}  // namespace tutti::programs

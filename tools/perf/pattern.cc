#include "tools/perf/pattern.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace tutti::perf {

namespace {

std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93;
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93;
  return value ^ (value >> 32);
}

std::size_t class_of(std::uint64_t index, std::uint64_t salt) {
  std::uint64_t value = (index + salt) * 0x9e3779b97f4a7c15;
  value ^= value >> 29;
  return (value * 0xbf58476d1ce4e5b9) >> 56;
}

template <class Bits, std::size_t n>
void fill_as(std::span<std::byte> target, const std::array<std::uint64_t, n>& table, std::uint64_t first,
             std::uint64_t salt) {
  std::array<Bits, n> narrow;
  std::ranges::transform(table, narrow.begin(), [](std::uint64_t bits) { return static_cast<Bits>(bits); });
  std::byte* out = target.data();
  for (std::uint64_t i = 0; i < target.size() / sizeof(Bits); ++i, out += sizeof(Bits)) {
    std::memcpy(out, &narrow[class_of(first + i, salt)], sizeof(Bits));
  }
}

std::uint64_t narrowed(const ElementType& type, std::uint64_t bits) {
  return type.bytes == 8 ? bits : bits & ((std::uint64_t{1} << (8 * type.bytes)) - 1);
}

std::uint64_t random_bits(const ElementType& type, int rank, std::size_t index) {
  return narrowed(type, mix(static_cast<std::uint64_t>(rank) * 1000003 + index + 1));
}

// The one of `ranks` that it is this class's turn for comes up at most `often` times.
bool has_turn(int rank, std::size_t index, int ranks, int often) {
  const int every = (ranks + often - 1) / often;
  return (static_cast<std::size_t>(rank) + index) % static_cast<std::size_t>(every) == 0;
}

}  // namespace

Pattern::Pattern(const ElementType& type, Operation operation, int ranks)
    : type_(type), operation_(operation), ranks_(ranks), inputs_(static_cast<std::size_t>(ranks)) {
  const bool divides_exactly = std::has_single_bit(static_cast<unsigned>(ranks)) && ranks <= 64;
  if (operation == Operation::avg && type.numbers == Numbers::floats && !divides_exactly) {
    // The factor is rounded, then each input that it scales, their sum and what is expected: by half of the last place.
    const double largest = std::ldexp(1, type.mantissa_bits + 1) / ranks;
    tolerance_ = 4 * std::ldexp(largest, -type.mantissa_bits - 1);
  }
  fill_tables();
}

// Where averages are rounded, few ranks give anything but zero, so that the tolerance stays far below what they give.
int Pattern::givers() const {
  if (tolerance_ == 0) return ranks_;
  return std::min(ranks_, type_.mantissa_bits > 2 ? 2 : 1);
}

// A whole number. Any sum of those of all ranks, by their factors, is at most 2 to the (mantissa_bits + 1).
double Pattern::number(int rank, std::size_t index) const {
  const std::uint64_t chance = mix(static_cast<std::uint64_t>(rank) * 1000003 + index + 1);
  const int weight = operation_ == Operation::mulsum ? 2 : 1;
  const double budget = std::ldexp(1, type_.mantissa_bits + 1) / weight;
  if (operation_ == Operation::prod) return has_turn(rank, index, ranks_, 3) ? 2 : 1;
  const bool is_order = operation_ == Operation::min || operation_ == Operation::max;
  const double limit = is_order ? budget : std::floor(budget / givers());
  if (givers() < ranks_ && !has_turn(rank, index, ranks_, givers())) return 0;
  const double sign = (chance & 1) != 0 ? -1 : 1;
  if (limit >= 1) {
    const double magnitude = std::min(limit, 1048576.0);
    // Adding 0 makes a negative zero positive: which of the two is larger depends on their order.
    return sign * static_cast<double>((chance >> 1) % (static_cast<std::uint64_t>(magnitude) + 1)) + 0.0;
  }
  return has_turn(rank, index, ranks_, static_cast<int>(budget)) ? sign : 0;
}

std::uint64_t Pattern::float_result(std::size_t index) const {
  double result = decode(type_, inputs_[0][index]) * (operation_ == Operation::mulsum ? factor_of(0) : 1);
  for (int rank = 1; rank < ranks_; ++rank) {
    const double input = decode(type_, inputs_[static_cast<std::size_t>(rank)][index]);
    if (operation_ == Operation::prod) result *= input;
    if (operation_ == Operation::max) result = std::max(result, input);
    if (operation_ == Operation::min) result = std::min(result, input);
    if (operation_ == Operation::sum || operation_ == Operation::avg) result += input;
    if (operation_ == Operation::mulsum) result += input * factor_of(rank);
  }
  return encode(type_, operation_ == Operation::avg ? result / ranks_ : result);
}

std::uint64_t Pattern::wrapped_result(std::size_t index) const {
  const bool is_signed = type_.numbers == Numbers::signed_integers;
  const int unused = 64 - 8 * static_cast<int>(type_.bytes);
  const auto is_less = [&](std::uint64_t a, std::uint64_t b) {
    if (!is_signed) return a < b;
    return static_cast<std::int64_t>(a << unused) < static_cast<std::int64_t>(b << unused);
  };
  std::uint64_t result = inputs_[0][index];
  for (int rank = 1; rank < ranks_; ++rank) {
    const std::uint64_t input = inputs_[static_cast<std::size_t>(rank)][index];
    if (operation_ == Operation::prod) result *= input;
    if (operation_ == Operation::max && is_less(result, input)) result = input;
    if (operation_ == Operation::min && is_less(input, result)) result = input;
    if (operation_ == Operation::sum || operation_ == Operation::avg) result += input;
    if (operation_ == Operation::mulsum) result += input * static_cast<std::uint64_t>(factor_of(rank));
  }
  if (operation_ == Operation::avg) result /= static_cast<std::uint64_t>(ranks_);
  return narrowed(type_, result);
}

void Pattern::fill_tables() {
  const bool is_float = type_.numbers == Numbers::floats;
  for (int rank = 0; rank < ranks_; ++rank) {
    for (std::size_t index = 0; index < kClasses; ++index) {
      std::uint64_t bits = random_bits(type_, rank, index);
      if (operation_ != Operation::none && is_float) bits = encode(type_, number(rank, index));
      // Averages divide the sum, which must not have wrapped around: 127 is the smallest limit of any type.
      if (operation_ == Operation::avg && !is_float) {
        bits %= 127 / static_cast<unsigned>(std::min(ranks_, 127)) + 1;
        if (!has_turn(rank, index, ranks_, 127)) bits = 0;
      }
      inputs_[static_cast<std::size_t>(rank)][index] = bits;
    }
  }
  if (operation_ == Operation::none) return;
  for (std::size_t index = 0; index < kClasses; ++index) {
    results_[index] = is_float ? float_result(index) : wrapped_result(index);
  }
}

void Pattern::fill(std::span<std::byte> target, int source, std::uint64_t first, std::uint64_t seed) const {
  const Table& table = source == kAllRanks ? results_ : inputs_[static_cast<std::size_t>(source)];
  const std::uint64_t salt = mix(seed + 1);
  switch (type_.bytes) {
    case 1: return fill_as<std::uint8_t>(target, table, first, salt);
    case 2: return fill_as<std::uint16_t>(target, table, first, salt);
    case 4: return fill_as<std::uint32_t>(target, table, first, salt);
    default: return fill_as<std::uint64_t>(target, table, first, salt);
  }
}

}  // namespace tutti::perf

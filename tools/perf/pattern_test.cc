#include "tools/perf/pattern.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

#include "base/arithmetic.h"
#include "base/random.h"
#include "tests/plans/seed.h"

namespace tutti::perf {
namespace {

using Elements = std::vector<std::byte>;

constexpr std::size_t kCount = 2048;  // every class comes up
constexpr int kOrders = 3;

DataType reference_type(const ElementType& type) {
  static const std::map<std::string_view, DataType> types = {
      {"int8", DataType::int8},         {"uint8", DataType::uint8},       {"int32", DataType::int32},
      {"uint32", DataType::uint32},     {"int64", DataType::int64},       {"uint64", DataType::uint64},
      {"half", DataType::float16},      {"float", DataType::float32},     {"double", DataType::float64},
      {"bfloat16", DataType::bfloat16}, {"f8e4m3", DataType::float8e4m3}, {"f8e5m2", DataType::float8e5m2},
  };
  return types.at(type.name);
}

Op reference_op(Operation operation) {
  switch (operation) {
    case Operation::prod: return Op::product;
    case Operation::max: return Op::max;
    case Operation::min: return Op::min;
    case Operation::avg: return Op::average;
    case Operation::mulsum: return Op::scaled_sum;
    case Operation::sum:
    case Operation::none: return Op::sum;
  }
  return Op::sum;
}

Elements filled(const Pattern& pattern, int source, std::uint64_t first, std::size_t count, std::uint64_t seed) {
  Elements elements(count * pattern.type().bytes);
  pattern.fill(elements, source, first, seed);
  return elements;
}

// What is left to combine: the input of a rank, or what some of them make, rounded to the type.
struct Part {
  Elements elements;
  int rank;  // -1: of several
};

// Joins any two parts until one is left, each time rounded to the type: an order that some algorithm could have.
Elements reduced(std::vector<Part> parts, DataType type, Op op, Random& random) {
  const auto ranks = static_cast<Rank>(parts.size());
  while (true) {
    const auto accumulator = create_accumulator(type, op, ranks);
    const auto take = [&] {
      const std::size_t index = random.below(parts.size());
      std::swap(parts[index], parts.back());
      Part part = std::move(parts.back());
      parts.pop_back();
      return part;
    };
    const Part one = take();
    if (one.rank >= 0)
      accumulator->assign_input(one.elements, Pattern::factor_of(one.rank));
    else
      accumulator->assign(one.elements);
    if (!parts.empty()) {
      const Part other = take();
      if (other.rank >= 0)
        accumulator->add_input(other.elements, Pattern::factor_of(other.rank));
      else
        accumulator->add(other.elements);
    }
    if (parts.empty()) accumulator->finish();
    Part result{Elements(one.elements.size()), -1};
    accumulator->store(result.elements);
    if (parts.empty()) return std::move(result.elements);
    parts.push_back(std::move(result));
  }
}

double largest_difference(const ElementType& type, const Elements& one, const Elements& other) {
  double largest = 0;
  for (std::size_t at = 0; at < one.size(); at += type.bytes) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::memcpy(&a, one.data() + at, type.bytes);
    std::memcpy(&b, other.data() + at, type.bytes);
    largest = std::max(largest, std::fabs(decode(type, a) - decode(type, b)));
  }
  return largest;
}

class PatternResults : public testing::TestWithParam<int> {};

TEST_P(PatternResults, AreThoseOfEveryOrderInEveryTypeAndOperation) {
  const int ranks = GetParam();
  Random random(test_seed());
  SCOPED_TRACE(fmt::format("TUTTI_SEED={}", test_seed()));
  for (const ElementType& type : element_types()) {
    for (const Operation operation : operations()) {
      const Pattern pattern(type, operation, ranks);
      const Elements expected = filled(pattern, Pattern::kAllRanks, 0, kCount, 7);
      for (int order = 0; order < kOrders; ++order) {
        std::vector<Part> inputs;
        for (int rank = 0; rank < ranks; ++rank) inputs.push_back({filled(pattern, rank, 0, kCount, 7), rank});
        const Elements found = reduced(std::move(inputs), reference_type(type), reference_op(operation), random);
        if (pattern.tolerance() == 0) {
          ASSERT_TRUE(found == expected) << type.name << " " << name_of(operation);
        } else {
          ASSERT_LE(largest_difference(type, found, expected), pattern.tolerance())
              << type.name << " " << name_of(operation);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, PatternResults, testing::Values(1, 2, 3, 7, 8, 17, 64),
                         testing::PrintToStringParamName());

TEST(Pattern, ToleratesNothingButAveragesThatCannotBeExact) {
  for (const int ranks : {1, 2, 3, 7, 8, 17, 64}) {
    for (const ElementType& type : element_types()) {
      for (const Operation operation : operations()) {
        const bool is_inexact = operation == Operation::avg && type.numbers == Numbers::floats && ranks != 1 &&
                                ranks != 2 && ranks != 8 && ranks != 64;
        EXPECT_EQ(Pattern(type, operation, ranks).tolerance() > 0, is_inexact)
            << type.name << " " << name_of(operation) << " " << ranks;
      }
    }
  }
}

// A tolerance as large as the numbers themselves would find nothing.
TEST(Pattern, ToleratesLessThanALostRankWouldChange) {
  for (const ElementType& type : element_types()) {
    if (type.numbers != Numbers::floats) continue;
    for (const int ranks : {3, 7, 17}) {
      const Pattern pattern(type, Operation::avg, ranks);
      for (int rank = 0; rank < ranks; ++rank) {
        const Elements input = filled(pattern, rank, 0, kCount, 0);
        const double lost = largest_difference(type, input, Elements(input.size())) / ranks;
        EXPECT_LT(pattern.tolerance(), lost) << type.name << ": rank " << rank << " of " << ranks;
      }
    }
  }
}

TEST(Pattern, NoRankMayBeMissingFromASum) {
  for (const ElementType& type : element_types()) {
    for (const int ranks : {2, 8, 64}) {
      const Pattern pattern(type, Operation::sum, ranks);
      for (int rank = 0; rank < ranks; ++rank) {
        const Elements input = filled(pattern, rank, 0, kCount, 3);
        EXPECT_TRUE(std::ranges::any_of(input, [](std::byte byte) { return byte != std::byte{0}; }))
            << type.name << ": rank " << rank << " of " << ranks << " gives nothing";
      }
    }
  }
}

TEST(Pattern, EveryRankHasItsOwnElements) {
  for (const ElementType& type : element_types()) {
    const Pattern pattern(type, Operation::none, 8);
    std::set<Elements> all;
    for (int rank = 0; rank < 8; ++rank) all.insert(filled(pattern, rank, 0, kCount, 1));
    EXPECT_EQ(all.size(), 8u) << type.name;
  }
}

TEST(Pattern, ChangesWithTheSeedAndWithThePlace) {
  const Pattern pattern(*find_type("float"), Operation::sum, 4);
  const Elements base = filled(pattern, 0, 0, kCount, 1);
  EXPECT_NE(filled(pattern, 0, 0, kCount, 2), base);
  EXPECT_NE(filled(pattern, 0, 1, kCount, 1), base);
  EXPECT_EQ(filled(pattern, 0, 0, kCount, 1), base);
}

TEST(Pattern, FillsPartsAsItFillsTheWhole) {
  for (const ElementType& type : element_types()) {
    const Pattern pattern(type, Operation::none, 3);
    const Elements whole = filled(pattern, 2, 0, kCount, 5);
    for (const std::size_t first : {std::size_t{1}, std::size_t{100}, kCount - 1}) {
      const Elements part = filled(pattern, 2, first, kCount - first, 5);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(first * type.bytes)))
          << type.name << " from " << first;
    }
  }
}

TEST(Element, NumbersComeBackFromTheirBits) {
  for (const ElementType& type : element_types()) {
    for (const double value : {0.0, 1.0, 2.0, 3.0, 8.0})
      EXPECT_EQ(decode(type, encode(type, value)), value) << type.name;
    if (type.numbers != Numbers::unsigned_integers) {
      EXPECT_EQ(decode(type, encode(type, -3)), -3) << type.name;
    }
  }
}

TEST(Element, NamesAreFoundAndOthersAreNot) {
  for (const std::string& name : type_names()) EXPECT_EQ(find_type(name)->name, name);
  for (const std::string& name : operation_names()) EXPECT_EQ(name_of(*find_operation(name)), name);
  EXPECT_EQ(find_type("floot"), nullptr);
  EXPECT_EQ(find_operation("none"), nullptr);
}

}  // namespace
}  // namespace tutti::perf

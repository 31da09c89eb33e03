#include "engine/host/kernels/kernels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/arithmetic.h"
#include "base/number.h"
#include "base/random.h"
#include "engine/host/kernels/codec.h"

namespace tutti::engine {
namespace {

#ifdef TUTTI_HAS_SANITIZER  // an instrumented build is many times slower
constexpr std::size_t kLengths[] = {0, 1, 3, 17, 130, 1000};
constexpr std::size_t kSourceCounts[] = {1, 2, 5, 8};
constexpr std::uint64_t kCodecStride = 1 << 16;
#else
constexpr std::size_t kLengths[] = {0, 1, 2, 3, 7, 8, 15, 17, 31, 33, 64, 100, 130, 257, 1000, 4099};
constexpr std::size_t kSourceCounts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
constexpr std::uint64_t kCodecStride = 1009;
#endif

using Bytes = std::vector<std::byte>;

// One element that is likely to be a limit of something: zeros, subnormals, infinities and NaNs come up often.
std::uint64_t element(Random& random, DataType type) {
  const std::uint64_t pattern = random.next();
  const std::uint64_t ones = ~std::uint64_t{0} >> (64 - 8 * size_of(type));
  switch (random.below(16)) {
    case 0: return pattern & 3;
    case 1: return ones - (pattern & 3);
    case 2: return (ones >> 1) - (pattern & 3);
    case 3: return (ones >> 1) + 1 + (pattern & 3);
    case 4:
      if (type == DataType::float32) return std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());
      if (type == DataType::float64) return std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
      return type == DataType::float16 ? Float16Format::kInfinity : Bfloat16Format::kInfinity;
    default: return pattern & ones;
  }
}

Bytes draw(Random& random, DataType type, std::size_t count) {
  Bytes bytes(count * size_of(type));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t value = element(random, type);
    std::memcpy(bytes.data() + i * size_of(type), &value, size_of(type));
  }
  return bytes;
}

// C++ leaves open which NaN an operation on float32 and float64 gives.
template <class T>
void forget_nans(Bytes& bytes) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + i, sizeof(T));
    if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
    std::memcpy(bytes.data() + i, &value, sizeof(T));
  }
}
Bytes comparable(DataType type, Bytes bytes) {
  if (type == DataType::float32) forget_nans<float>(bytes);
  if (type == DataType::float64) forget_nans<double>(bytes);
  return bytes;
}

struct Case {
  DataType type = DataType::float32;
  Op op = Op::sum;
  std::vector<Bytes> sources;
  std::vector<double> factors;
  Rank divide_by = 1;
  Bytes expected;

  std::size_t bytes() const { return sources[0].size(); }
  std::size_t elements() const { return bytes() / size_of(type); }
};

Case create_case(Random& random, DataType type, Op op, std::size_t source_count, std::size_t length) {
  constexpr Rank kRanks = 7;
  Case made{type, op, {}, {}, 1, {}};
  const auto accumulator = create_accumulator(type, op, kRanks);
  if (op == Op::average && !is_narrow(type)) made.divide_by = kRanks;
  for (std::size_t s = 0; s < source_count; ++s) {
    made.sources.push_back(draw(random, type, length));
    const Bytes& source = made.sources.back();
    const bool is_input = op == Op::average || (op == Op::scaled_sum && random.below(4) != 0);
    double factor = 1;
    if (op == Op::scaled_sum && is_input) factor = static_cast<double>(random.below(100));
    if (op == Op::scaled_sum && is_input && size_of(type) > 1) factor *= 0.3;
    if (is_input) {
      s == 0 ? accumulator->assign_input(source, factor) : accumulator->add_input(source, factor);
    } else {
      s == 0 ? accumulator->assign(source) : accumulator->add(source);
    }
    if (op == Op::average) factor = average_factor(kRanks);
    made.factors.push_back(factor);
  }
  if (op != Op::scaled_sum && (op != Op::average || !is_narrow(type))) made.factors.clear();
  accumulator->finish();
  made.expected.resize(made.bytes());
  accumulator->store(made.expected);
  made.expected = comparable(type, std::move(made.expected));
  return made;
}

// Where operands lie: how far from alignment, and whether the first target is the last source.
struct Layout {
  std::size_t target_count = 1;
  std::size_t source_offset = 0;
  std::size_t target_offset = 0;
  bool same_target_offsets = true;
  bool in_place = false;
  bool streaming = false;
};

class Place {
 public:
  Place(std::size_t bytes, std::size_t offset) : memory_(bytes + kMargin, kFiller), bytes_(bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    start_ = (64 - address % 64) % 64 + 64 + offset;
  }
  std::byte* data() { return memory_.data() + start_; }
  Bytes content() const {
    return {memory_.begin() + static_cast<std::ptrdiff_t>(start_),
            memory_.begin() + static_cast<std::ptrdiff_t>(start_ + bytes_)};
  }
  bool surroundings_are_untouched() const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if ((i < start_ || i >= start_ + bytes_) && memory_[i] != kFiller) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t kMargin = 256;
  static constexpr std::byte kFiller{0xa5};
  std::vector<std::byte> memory_;
  std::size_t bytes_;
  std::size_t start_;
};

std::string run_case(const KernelSet& set, const Case& given, const Layout& layout) {
  std::vector<Place> sources;
  std::vector<Place> targets;
  std::vector<const std::byte*> from;
  std::vector<std::byte*> to;
  for (const Bytes& source : given.sources) {
    sources.emplace_back(source.size(), layout.source_offset);
    if (!source.empty()) std::memcpy(sources.back().data(), source.data(), source.size());
  }
  for (Place& source : sources) from.push_back(source.data());
  for (std::size_t t = 0; t < layout.target_count; ++t) {
    targets.emplace_back(given.bytes(), layout.target_offset + (layout.same_target_offsets ? 0 : t));
  }
  for (Place& target : targets) to.push_back(target.data());
  if (layout.in_place) to[0] = sources.back().data();

  const double* factors = given.factors.empty() ? nullptr : given.factors.data();
  set.kernel_of(given.type, given.op)({from, to, given.elements(), factors, given.divide_by, layout.streaming});

  for (std::size_t t = 0; t < targets.size(); ++t) {
    const Place& target = layout.in_place && t == 0 ? sources.back() : targets[t];
    if (comparable(given.type, target.content()) != given.expected) return fmt::format("target {} differs", t);
    if (!target.surroundings_are_untouched()) return fmt::format("target {} is exceeded", t);
  }
  return {};
}

std::string name_of(const KernelSet& set, const Case& given, const Layout& layout) {
  return fmt::format(
      "{}: {} {} of {} sources and {} targets, {} elements, offsets {} and {}, in place {}, streaming {}",
      set.instruction_set, tutti::name_of(given.op), tutti::name_of(given.type), given.sources.size(),
      layout.target_count, given.elements(), layout.source_offset, layout.target_offset, layout.in_place,
      layout.streaming);
}

class KernelsOf : public testing::TestWithParam<DataType> {};

TEST_P(KernelsOf, EveryOperationAndShapeHaveTheBitsOfTheAccumulator) {
  const std::size_t size = size_of(GetParam());
  const Layout layouts[] = {
      {1, 0, 0, true, false, false},  {2, size, 3, false, false, false},   {3, 1, 0, true, true, false},
      {1, 0, size, true, true, true}, {2, 0, 2 * size, true, false, true}, {3, 3, 1, false, false, true},
  };
  Random random(17);
  for (const Op op : kOps) {
    for (const std::size_t source_count : kSourceCounts) {
      for (const std::size_t length : kLengths) {
        const Case given = create_case(random, GetParam(), op, source_count, length);
        for (const KernelSet& set : kernel_sets()) {
          for (const Layout& layout : layouts) {
            ASSERT_EQ(run_case(set, given, layout), "") << name_of(set, given, layout);
          }
        }
      }
    }
  }
}

class NarrowKernelsOf : public KernelsOf {};

TEST_P(NarrowKernelsOf, OneSourceKeepsEveryPattern) {
  const std::size_t size = size_of(GetParam());
  const std::size_t count = std::size_t{1} << (8 * size);
  Bytes all(count * size);
  for (std::size_t i = 0; i < count; ++i) std::memcpy(all.data() + i * size, &i, size);
  const auto accumulator = create_accumulator(GetParam(), Op::sum, 1);
  accumulator->assign(all);
  Bytes expected(all.size());
  accumulator->store(expected);
  for (const KernelSet& set : kernel_sets()) {
    for (const Op op : kOps) {
      Bytes result(all.size());
      const std::byte* source = all.data();
      std::byte* target = result.data();
      set.kernel_of(GetParam(), op)({{&source, 1}, {&target, 1}, count, nullptr, 1, false});
      EXPECT_EQ(result, expected) << set.instruction_set << ' ' << tutti::name_of(op);
    }
  }
}

std::string test_name_of(const testing::TestParamInfo<DataType>& type) {
  return std::string(tutti::name_of(type.param));
}
INSTANTIATE_TEST_SUITE_P(AllTypes, KernelsOf, testing::ValuesIn(kDataTypes), test_name_of);
INSTANTIATE_TEST_SUITE_P(NarrowFloats, NarrowKernelsOf,
                         testing::Values(DataType::float16, DataType::bfloat16, DataType::float8e4m3,
                                         DataType::float8e5m2),
                         test_name_of);

template <class Format>
void expect_fast_encoding() {
  for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += kCodecStride) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    ASSERT_EQ(Codec<Format>::encode(value), Format::encode(value)) << fmt::format("{:08x}", bits);
  }
  // Every pattern, its neighbours, and what lies half-way between patterns, where ties are.
  for (std::uint32_t pattern = 0; pattern < 2 * Format::kSign; ++pattern) {
    const float value = Format::decode(static_cast<typename Format::Bits>(pattern));
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t half = 1u << (CodecConstants<Format>::kShift - 1);
    for (const std::uint32_t near : {bits - 1, bits, bits + 1, bits + half - 1, bits + half, bits + half + 1}) {
      const auto neighbour = std::bit_cast<float>(near);
      ASSERT_EQ(Codec<Format>::encode(neighbour), Format::encode(neighbour)) << fmt::format("{:08x}", near);
    }
  }
}

TEST(Codec, EncodesAsTheDefinitionDoes) {
  expect_fast_encoding<Float16Format>();
  expect_fast_encoding<Bfloat16Format>();
  expect_fast_encoding<Float8e4m3Format>();
  expect_fast_encoding<Float8e5m2Format>();
}

// Sums of values that fall between the numbers of a narrow float, made by factors that are exact in float32.
template <class Format>
void expect_ties_round_alike(DataType type) {
  using Bits = typename Format::Bits;
  constexpr std::size_t kCount = std::size_t{1} << (8 * sizeof(Bits));
  Random random(5);
  std::vector<Bits> all(kCount);
  std::vector<Bits> other(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    all[i] = static_cast<Bits>(i);
    other[i] = static_cast<Bits>(i + random.below(3));
  }
  for (const double factor : {0.5, 0.25, 1.5, 1.0 / 1024, 3.0}) {
    const std::vector<double> factors = {factor, 0.5};
    const auto accumulator = create_accumulator(type, Op::scaled_sum, 2);
    accumulator->assign_input(std::as_bytes(std::span(all)), factors[0]);
    accumulator->add_input(std::as_bytes(std::span(other)), factors[1]);
    std::vector<Bits> expected(kCount);
    accumulator->store(std::as_writable_bytes(std::span(expected)));
    for (const KernelSet& set : kernel_sets()) {
      std::vector<Bits> result(kCount);
      const std::byte* sources[] = {std::as_bytes(std::span(all)).data(), std::as_bytes(std::span(other)).data()};
      std::byte* target = std::as_writable_bytes(std::span(result)).data();
      set.kernel_of(type, Op::scaled_sum)({sources, {&target, 1}, kCount, factors.data(), 1, false});
      EXPECT_EQ(result, expected) << set.instruction_set << ' ' << tutti::name_of(type) << ' ' << factor;
    }
  }
}

TEST(Kernels, ScaledSumsOfAllPatternsOfNarrowFloatsRoundAsTheAccumulatorDoes) {
  expect_ties_round_alike<Float16Format>(DataType::float16);
  expect_ties_round_alike<Bfloat16Format>(DataType::bfloat16);
  expect_ties_round_alike<Float8e4m3Format>(DataType::float8e4m3);
  expect_ties_round_alike<Float8e5m2Format>(DataType::float8e5m2);
}

TEST(Kernels, OneSourceTimesOneKeepsEveryBitOfANan) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t payload = 1; payload < (1u << 23); payload += 99'991) {
    all.push_back(0x7f800000u | payload);
    all.push_back(0xff800000u | payload);
  }
  const double one = 1;
  for (const KernelSet& set : kernel_sets()) {
    for (const double* factors : {static_cast<const double*>(nullptr), &one}) {
      std::vector<std::uint32_t> result(all.size());
      const std::byte* source = std::as_bytes(std::span(all)).data();
      std::byte* target = std::as_writable_bytes(std::span(result)).data();
      set.kernel_of(DataType::float32, Op::sum)({{&source, 1}, {&target, 1}, all.size(), factors, 1, false});
      EXPECT_EQ(result, all) << set.instruction_set;
    }
  }
}

template <class Format>
void expect_conversions(const KernelSet& set, DataType type, Random& random) {
  const Conversion conversion = set.conversion_of(type);
  for (const std::size_t length : kLengths) {
    for (const std::size_t offset : {0, 1}) {
      const Bytes drawn = draw(random, DataType::float32, length);
      Place wide(drawn.size(), offset);
      std::copy(drawn.begin(), drawn.end(), wide.data());
      Place narrow(length * 2, 3 * offset);
      conversion.narrow(wide.data(), narrow.data(), length);
      Place back(drawn.size(), offset);
      conversion.widen(narrow.data(), back.data(), length);
      for (std::size_t i = 0; i < length; ++i) {
        float value = 0;
        float rounded = 0;
        std::uint16_t bits = 0;
        std::memcpy(&value, wide.data() + 4 * i, 4);
        std::memcpy(&bits, narrow.data() + 2 * i, 2);
        std::memcpy(&rounded, back.data() + 4 * i, 4);
        ASSERT_EQ(bits, Format::encode(value)) << set.instruction_set << ' ' << value;
        if (std::isnan(value)) {
          ASSERT_TRUE(std::isnan(rounded)) << set.instruction_set;
        } else {
          ASSERT_EQ(rounded, Format::decode(bits)) << set.instruction_set << ' ' << value;
          ASSERT_EQ(Format::encode(rounded), bits) << "what is rounded once more stays";
        }
      }
      for (const Place* place : {&wide, &narrow, &back}) EXPECT_TRUE(place->surroundings_are_untouched());
    }
  }
}

TEST(Kernels, ConversionsRoundAsTheTypesAreDefined) {
  Random random(5);
  for (const KernelSet& set : kernel_sets()) {
    expect_conversions<Float16Format>(set, DataType::float16, random);
    expect_conversions<Bfloat16Format>(set, DataType::bfloat16, random);
    EXPECT_EQ(set.conversion_of(DataType::float64).narrow, nullptr);
  }
}

TEST(Kernels, PortableKernelsComeLastAndTheBestAreUsed) {
  ASSERT_FALSE(kernel_sets().empty());
  EXPECT_EQ(kernel_sets().back().instruction_set, "portable");
  EXPECT_EQ(kernel_sets().front().instruction_set, instruction_set());
  EXPECT_EQ(kernel_of(DataType::float32, Op::sum), kernel_sets().front().kernel_of(DataType::float32, Op::sum));
}

TEST(Copy, ReachesAllTargetsInEveryInstructionSet) {
  Random random(3);
  for (const KernelSet& set : kernel_sets()) {
    for (const std::size_t bytes : {0, 1, 5, 63, 64, 65, 127, 255, 256, 300, 4096, 70001}) {
      for (const std::size_t target_count : {1, 2, 5}) {
        for (const bool streaming : {false, true}) {
          const Bytes source = draw(random, DataType::uint8, bytes);
          std::vector<Place> targets;
          for (std::size_t t = 0; t < target_count; ++t) targets.emplace_back(bytes, 9);
          std::vector<std::byte*> to;
          for (Place& target : targets) to.push_back(target.data());
          set.copy(source.data(), to, bytes, streaming);
          for (const Place& target : targets) {
            EXPECT_EQ(target.content(), source) << set.instruction_set << ' ' << bytes;
            EXPECT_TRUE(target.surroundings_are_untouched()) << set.instruction_set << ' ' << bytes;
          }
        }
      }
    }
  }
}

TEST(Copy, LeavesATargetThatIsTheSourceAlone) {
  Random random(4);
  for (const bool streaming : {false, true}) {
    Bytes source = draw(random, DataType::uint8, 1000);
    const Bytes before = source;
    Bytes first(1000);
    Bytes second(1000);
    std::byte* const to[] = {first.data(), source.data(), second.data()};
    copy(source.data(), to, 1000, streaming);
    EXPECT_EQ(source, before);
    EXPECT_EQ(first, before);
    EXPECT_EQ(second, before);
  }
}

}  // namespace
}  // namespace tutti::engine

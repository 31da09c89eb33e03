#include "engine/host/conversion.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/number.h"
#include "base/random.h"

namespace tutti::engine {
namespace {

using Floats = std::vector<float>;
using Narrows = std::vector<std::uint16_t>;

// One element, a piece that is not full, and several pieces.
constexpr std::size_t kLengths[] = {1, 5, 4095, 4096, 4097, 10'001};

std::uint16_t narrowed(float value) { return Bfloat16Format::encode(value); }
float rounded(float value) { return Bfloat16Format::decode(narrowed(value)); }

// A value of bfloat16 on the wire and what becomes of it.
class Conversions : public testing::Test {
 protected:
  Conversions() {
    launch_.elements.wire_type = DataType::bfloat16;
    launch_.conversion = conversion_of(DataType::bfloat16);
    launch_.kernel = kernel_of(DataType::float32, Op::sum);
    workspace_.reserve_bounces(2);
    workspace_.piece_sources.resize(kOperandsMax);
    workspace_.piece_targets.resize(kOperandsMax);
  }

  Floats draw(std::size_t length) {
    Floats values(length);
    for (float& value : values) value = static_cast<float>(random_.below(1 << 20)) / 1000 - 500;
    return values;
  }
  static Narrows narrow(const Floats& values) {
    Narrows bits;
    for (const float value : values) bits.push_back(narrowed(value));
    return bits;
  }
  void compute(std::initializer_list<const void*> sources, std::initializer_list<void*> targets, Value value,
               std::size_t length) {
    for (const void* source : sources) sources_.push_back(static_cast<const std::byte*>(source));
    for (void* target : targets) targets_.push_back(static_cast<std::byte*>(target));
    value.sources = sources_;
    value.targets = targets_;
    value.bytes = length * sizeof(float);
    compute_converted(launch_, workspace_, value);
    sources_.clear();
    targets_.clear();
  }

  static constexpr std::size_t kOperandsMax = 4;
  Random random_{1};
  Launch launch_;
  Workspace workspace_;
  std::vector<const std::byte*> sources_;
  std::vector<std::byte*> targets_;
};

TEST_F(Conversions, SumsAreAddedWideAndRoundedWhereTheyLeave) {
  for (const std::size_t length : kLengths) {
    const Floats in = draw(length);
    const Narrows received = narrow(draw(length));
    Floats out(length);
    Narrows sent(length);
    Narrows only_sent(length);
    compute({received.data(), in.data()}, {out.data(), sent.data()}, {.is_first_narrow = true, .is_last_narrow = true},
            length);
    compute({received.data(), in.data()}, {only_sent.data()}, {.is_first_narrow = true, .is_last_narrow = true},
            length);
    for (std::size_t i = 0; i < length; ++i) {
      ASSERT_EQ(out[i], Bfloat16Format::decode(received[i]) + in[i]);
      ASSERT_EQ(sent[i], narrowed(out[i]));
      ASSERT_EQ(only_sent[i], sent[i]);
    }
  }
}

TEST_F(Conversions, CompleteSumsAreRoundedForEverybody) {
  launch_.divide_by = 3;
  for (const std::size_t length : kLengths) {
    Floats own = draw(length);  // in place
    const Floats in = own;
    const Narrows received = narrow(draw(length));
    Floats other(length);
    Narrows sent(length);
    compute({received.data(), own.data()}, {other.data(), own.data(), sent.data()},
            {.finish = true, .is_first_narrow = true, .is_last_narrow = true, .is_rounded = true}, length);
    for (std::size_t i = 0; i < length; ++i) {
      const float exact = (Bfloat16Format::decode(received[i]) + in[i]) / 3;
      ASSERT_EQ(own[i], rounded(exact));
      ASSERT_EQ(other[i], rounded(exact));
      ASSERT_EQ(sent[i], narrowed(exact));
    }
    compute({in.data(), in.data()}, {own.data()}, {.finish = true, .is_rounded = true}, length);
    for (std::size_t i = 0; i < length; ++i) ASSERT_EQ(own[i], rounded((in[i] + in[i]) / 3)) << "though not sent";
  }
}

TEST_F(Conversions, WhatIsPassedOnKeepsItsBits) {
  for (const std::size_t length : kLengths) {
    Narrows received = narrow(draw(length));
    received[0] = 0x7fff;  // a NaN that rounding would not give
    Floats first(length);
    Floats second(length);
    Narrows sent(length);
    compute({received.data()}, {first.data(), second.data(), sent.data()},
            {.is_first_narrow = true, .is_last_narrow = true}, length);
    EXPECT_EQ(sent, received);
    for (std::size_t i = 1; i < length; ++i) {
      ASSERT_EQ(first[i], Bfloat16Format::decode(received[i]));
      ASSERT_EQ(second[i], first[i]);
    }
  }
}

TEST_F(Conversions, AnInputThatIsOnlySentIsLeftAsItIs) {
  for (const std::size_t length : kLengths) {
    Floats in = draw(length);
    const Floats before = in;
    Narrows sent(length);
    compute({in.data()}, {sent.data()}, {.is_last_narrow = true}, length);
    EXPECT_EQ(in, before);
    EXPECT_EQ(sent, narrow(in));
  }
}

TEST_F(Conversions, NothingIsTouchedForAValueWithoutElements) {
  float out = 7;
  compute({nullptr}, {&out}, {.is_first_narrow = true}, 0);
  EXPECT_EQ(out, 7);
}

}  // namespace
}  // namespace tutti::engine

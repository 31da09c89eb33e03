#include "comm/description.h"

#include <gtest/gtest.h>

namespace tutti::comm {
namespace {

using plan::Collective;

TEST(Description, ReadsAsThePersonWouldSayIt) {
  EXPECT_EQ(describe(Call{.count = 1000}), "all_reduce of 1000 float32, sum");
  EXPECT_EQ(describe(Call{.collective = Collective::barrier, .count = 7}), "barrier");
  EXPECT_EQ(describe(Call{.collective = Collective::reduce, .count = 2, .type = DataType::int8, .root = 3}),
            "reduce of 2 int8, sum, root 3");
  EXPECT_EQ(describe(Call{.collective = Collective::send_receive, .count = 5, .root = 1, .peer = 2}),
            "send from 1 to 2 of 5 float32");
}

TEST(Description, OfWhatACallDoesNotUseIsTheSame) {
  // The root of an all_reduce, the operation of a broadcast and the size of a barrier mean nothing.
  EXPECT_EQ(key_of(Call{.count = 1, .root = 0}), key_of(Call{.count = 1, .root = 2}));
  EXPECT_EQ(key_of(Call{.collective = Collective::broadcast, .count = 1, .reduction = Op::max}),
            key_of(Call{.collective = Collective::broadcast, .count = 1}));
  EXPECT_EQ(key_of(Call{.collective = Collective::barrier, .count = 1}),
            key_of(Call{.collective = Collective::barrier}));
}

TEST(Description, DiffersWhereCallsDo) {
  const Call usual{.count = 8};
  std::vector<Call> others(5, usual);
  others[0].count = 9;
  others[1].type = DataType::int32;
  others[2].reduction = Op::max;
  others[3].collective = Collective::reduce;
  const std::uint64_t counts[] = {8, 8};
  others[4] = {.collective = Collective::all_gather, .counts = counts};
  for (const Call& other : others) {
    EXPECT_FALSE(key_of(other) == key_of(usual)) << describe(other);
    EXPECT_NE(key_of(other).fingerprint(), key_of(usual).fingerprint()) << describe(other);
    EXPECT_LT(key_of(other).fingerprint(), 1u << transport::Tag::kFingerprintBits);
  }
  EXPECT_EQ(difference(key_of(usual), key_of(others[0])), "count 8 against 9");
  EXPECT_EQ(difference(key_of(usual), key_of(others[3])), "all_reduce against reduce");
}

TEST(Description, OfGarbageIsStillText) {
  const CallKey garbage{.count = ~0ull, .what = ~0ull, .detail = ~0ull};
  EXPECT_EQ(describe(garbage), "an unknown call");
  EXPECT_FALSE(difference(garbage, key_of(Call{.count = 1})).empty());
}

}  // namespace
}  // namespace tutti::comm

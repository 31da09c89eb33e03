#include "base/text.h"

#include <gtest/gtest.h>

namespace tutti::text {
namespace {

TEST(Text, NumbersMustFillTheWholeWord) {
  EXPECT_EQ(integer_of<int>("42"), 42);
  EXPECT_EQ(integer_of<int>("42x"), std::nullopt);
  EXPECT_EQ(integer_of<int>(""), std::nullopt);
  EXPECT_EQ(integer_of<std::uint8_t>("256"), std::nullopt);
  EXPECT_EQ(real_of("1.5"), 1.5);
  EXPECT_EQ(real_of("inf"), std::nullopt);
}

TEST(Text, SizesArePowersOf1024AndRatesOf1000) {
  EXPECT_EQ(bytes_of("8"), 8u);
  EXPECT_EQ(bytes_of("64K"), 65536u);
  EXPECT_EQ(bytes_of("1MiB"), 1u << 20);
  EXPECT_EQ(bytes_of("10G"), 10ull << 30);
  EXPECT_EQ(bytes_of("1.5K"), 1536u);
  EXPECT_EQ(bytes_of("1.2"), std::nullopt);
  EXPECT_EQ(bytes_of("-1"), std::nullopt);
  EXPECT_EQ(bytes_of("99999999999T"), std::nullopt);
  EXPECT_EQ(rate_of("100Gb/s"), 12.5e9);
  EXPECT_EQ(rate_of("235GB/s"), 235e9);
  EXPECT_EQ(rate_of("235GB"), std::nullopt);
  EXPECT_DOUBLE_EQ(*seconds_of("150ns"), 150e-9);
}

TEST(Text, QuantitiesAreWrittenForPeople) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(65536), "64 KiB");
  EXPECT_EQ(bytes_text(1500), "1.46 KiB");
  EXPECT_EQ(seconds_text(12.34e-6), "12.34 us");
  EXPECT_EQ(rate_text(12.5e9), "12.5 GB/s");
}

TEST(Text, SuggestsOnlyWhatIsNearEnoughToBeASlip) {
  const std::vector<std::string> known = {"ring", "tree", "plan"};
  EXPECT_EQ(suggestion("rign", known), ", did you mean 'ring'?");
  EXPECT_EQ(suggestion("plna", known), ", did you mean 'plan'?");
  EXPECT_EQ(suggestion("tre", known), ", did you mean 'tree'?");
  EXPECT_EQ(suggestion("banana", known), "");
  EXPECT_EQ(suggestion(std::string(100000, 'x'), known), "");
}

TEST(Text, ListsOfNumbersRoundTrip) {
  EXPECT_EQ(list_text(std::vector<std::int32_t>{0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(list_of("0-2,5,7-8", 8), (std::vector<std::int32_t>{0, 1, 2, 5, 7, 8}));
  EXPECT_EQ(list_of("0-9", 8), std::nullopt);
  EXPECT_EQ(list_of("3-1", 8), std::nullopt);
  EXPECT_EQ(list_of("", 8), std::nullopt);
  EXPECT_EQ(list_of("0-7,0-7,0-7", 7), std::nullopt) << "a list that repeats numbers cannot grow without bound";
}

}  // namespace
}  // namespace tutti::text

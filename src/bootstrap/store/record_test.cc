#include "bootstrap/store/record.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace tutti::bootstrap {
namespace {

TEST(Record, ReadsWhatWasWrittenAndNothingBehindIt) {
  Bytes bytes = record_of("key", bytes_of("value"));
  const std::size_t size = bytes.size();
  append(bytes, bytes_of("the next record"));
  const auto record = parse_record(bytes);
  ASSERT_TRUE(record && record->has_value());
  EXPECT_EQ((*record)->key, "key");
  EXPECT_EQ(text_of((*record)->value), "value");
  EXPECT_EQ((*record)->bytes, size);
}

TEST(Record, IsIncompleteAtEveryCut) {
  const Bytes whole = record_of("key", bytes_of("value"));
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    const auto record = parse_record(std::span(whole).first(cut));
    ASSERT_TRUE(record) << cut << ": " << record.status().text();
    EXPECT_FALSE(record->has_value()) << cut;
  }
}

TEST(Record, RefusesEveryChangedBit) {
  const Bytes whole = record_of("key", bytes_of("value"));
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes changed = whole;
    changed[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    EXPECT_FALSE(parse_record(changed)) << bit;
  }
}

TEST(FileHeader, IsOneOfThisVersionOnly) {
  EXPECT_TRUE(check_file_header(file_header()));
  EXPECT_FALSE(check_file_header({}));
  const Bytes header = file_header();
  for (std::size_t index = 0; index < header.size(); ++index) {
    Bytes changed = header;
    changed[index] ^= std::byte{1};
    EXPECT_FALSE(check_file_header(changed)) << index;
    EXPECT_FALSE(check_file_header(std::span(header).first(index))) << index;
  }
}

}  // namespace
}  // namespace tutti::bootstrap

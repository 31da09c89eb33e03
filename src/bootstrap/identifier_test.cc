#include "bootstrap/identifier.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti::bootstrap {
namespace {

MeetingAddress address_at(std::vector<std::string> addresses) {
  return {.contact = {.id = {7}, .addresses = std::move(addresses)}, .secret = *rpc::Secret::create()};
}

TEST(Identifier, LeadsBackToTheMeetingPoint) {
  MeetingAddress address = address_at({"10.0.0.1:4000", "[fd00::1]:4001"});
  address.is_encrypted = true;
  const auto identifier = make_identifier(address);
  ASSERT_TRUE(identifier) << identifier.status().text();
  const auto found = read_identifier(*identifier);
  ASSERT_TRUE(found) << found.status().text();
  EXPECT_EQ(found->contact, address.contact);
  EXPECT_TRUE(std::ranges::equal(found->secret.reveal(), address.secret.reveal()));
  EXPECT_TRUE(found->is_encrypted);
}

TEST(Identifier, IsReadFromItsTextWithWhatSurroundsItInAFile) {
  const Identifier identifier = *make_identifier(address_at({"10.0.0.1:4000"}));
  for (const std::string& text : {identifier.text(), identifier.text() + "\n", " " + identifier.text() + "\r\n"}) {
    const auto parsed = Identifier::parse(text);
    ASSERT_TRUE(parsed) << parsed.status().text();
    EXPECT_EQ(*parsed, identifier);
  }
  EXPECT_FALSE(Identifier::parse(identifier.text() + "\n" + identifier.text()));
}

TEST(Identifier, LeavesOutAddressesThatMeanNothingOnAnotherHost) {
  const auto identifier = make_identifier(address_at({"[fe80::1%1]:4000", "10.0.0.1:4000"}));
  ASSERT_TRUE(identifier) << identifier.status().text();
  EXPECT_EQ(read_identifier(*identifier)->contact.addresses, std::vector<std::string>{"10.0.0.1:4000"});
  EXPECT_EQ(make_identifier(address_at({"[fe80::1%1]:4000", "node7:4000"})).status().code(), Code::network);
}

}  // namespace
}  // namespace tutti::bootstrap

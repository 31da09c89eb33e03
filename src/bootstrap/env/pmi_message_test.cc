#include "bootstrap/env/pmi_message.h"

#include <gtest/gtest.h>

namespace tutti::bootstrap {
namespace {

TEST(PmiMessage, HasACommandAndFields) {
  const auto message = parse_pmi("cmd=get_result rc=0 msg=success value=a=b");
  ASSERT_TRUE(message) << message.status().text();
  EXPECT_EQ(message->command, "get_result");
  EXPECT_EQ(*message->find("rc"), "0");
  EXPECT_EQ(*message->find("value"), "a=b");
  EXPECT_EQ(message->find("key"), nullptr);
}

TEST(PmiMessage, GoesThroughALine) {
  const PmiMessage message{"put", {{"kvsname", "5.0"}, {"key", "k"}, {"value", ""}}};
  EXPECT_EQ(line_of(message), "cmd=put kvsname=5.0 key=k value=\n");
  const auto parsed = parse_pmi("cmd=put kvsname=5.0 key=k value=");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(line_of(*parsed), line_of(message));
}

TEST(PmiMessage, RefusesAnythingElse) {
  std::string many = "cmd=x";
  for (std::size_t field = 0; field <= kPmiFieldsMax; ++field) many += " a=b";
  for (const std::string& line : {std::string(""), std::string("cmd="), std::string("rc=0 cmd=x"), std::string("hello"),
                                  std::string("cmd=x word"), std::string("cmd=x =value"), std::string("cmd=x\ncmd=y"),
                                  std::string("cmd=x a=\0b", 10), "cmd=" + std::string(kPmiLineBytesMax, 'x'), many}) {
    const auto message = parse_pmi(line);
    ASSERT_FALSE(message) << line;
    EXPECT_NE(message.status().text().find("which is not PMI-1"), std::string_view::npos) << message.status().text();
  }
}

}  // namespace
}  // namespace tutti::bootstrap

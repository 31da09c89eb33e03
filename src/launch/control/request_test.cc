#include "launch/control/request.h"

#include <gtest/gtest.h>

#include <vector>

namespace tutti::launch::control {
namespace {

TEST(ControlRequest, IsReadAsItWasWritten) {
  const std::vector<Request> requests = {{.ask = Ask::status},
                                         {.ask = Ask::samples},
                                         {.ask = Ask::stop},
                                         {.ask = Ask::kill},
                                         {.ask = Ask::signal, .signal = 10},
                                         {.ask = Ask::signal, .signal = 10, .rank = 3}};
  for (const Request& request : requests) {
    const std::string line = line_of(request);
    ASSERT_TRUE(line.ends_with('\n'));
    const auto again = parse_request(std::string_view(line).substr(0, line.size() - 1));
    ASSERT_TRUE(again) << line << again.status().text();
    EXPECT_EQ(*again, request);
    EXPECT_LE(line.size(), kRequestBytesMax);
  }
}

TEST(ControlRequest, IsTheTextThatTheGuideShows) {
  EXPECT_EQ(line_of({.ask = Ask::signal, .signal = 10, .rank = 3}), "{\"ask\":\"signal\",\"signal\":10,\"rank\":3}\n");
  EXPECT_EQ(line_of({.ask = Ask::status}), "{\"ask\":\"status\"}\n");
}

TEST(ControlRequest, ThatIsNoneIsRefusedWithItsReason) {
  const auto reason = [](std::string_view line) {
    const auto request = parse_request(line);
    return request ? std::string("accepted") : std::string(request.status().text());
  };
  EXPECT_EQ(reason("GET / HTTP/1.1"), "the request is no JSON");
  EXPECT_EQ(reason("[]"), "the request is no object");
  EXPECT_EQ(reason("{}"), "the request has no 'ask'");
  EXPECT_EQ(reason(R"({"ask":7})"), "the request has a 'ask' that is no text");
  EXPECT_EQ(reason(R"({"ask":"fly"})"),
            "the request asks for something unknown; known are status, samples, stop, kill and signal");
  EXPECT_EQ(reason(R"({"ask":"signal"})"), "the request has no 'signal'");
  EXPECT_EQ(reason(R"({"ask":"signal","signal":65})"),
            "the request has a 'signal' that is no whole number from 1 to 64");
  EXPECT_EQ(reason(R"({"ask":"signal","signal":9,"rank":-1})"),
            "the request has a 'rank' that is no whole number from 0 to 2147483647");
  EXPECT_EQ(reason(R"({"ask":"signal","signal":9,"rank":18446744073709551615})"),
            "the request has a 'rank' that is no whole number from 0 to 2147483647");
  EXPECT_EQ(reason(std::string(kRequestBytesMax + 1, ' ')), "the request has 1025 bytes, at most 1024 are taken");
}

}  // namespace
}  // namespace tutti::launch::control

#include "bootstrap/store/call.h"

#include <gtest/gtest.h>

namespace tutti::bootstrap {
namespace {

const StoreCall kCall{.number = 70, .oldest = 69, .wait_ns = 5, .request = {.kind = RequestKind::wait, .key = "key"}};
const StoreAnswer kAnswer{.number = 70, .reply = {Outcome::value, Code::ok, Bytes(4)}};

TEST(StoreCall, ReadsWhatWasWritten) {
  const auto call = parse_call(message_of(kCall));
  ASSERT_TRUE(call) << call.status().text();
  EXPECT_EQ(*call, kCall);
  const auto answer = parse_answer(message_of(kAnswer));
  ASSERT_TRUE(answer) << answer.status().text();
  EXPECT_EQ(*answer, kAnswer);
}

TEST(StoreCall, IsRefusedWhenItIsCutOrGoesOn) {
  Bytes call = message_of(kCall);
  Bytes answer = message_of(kAnswer);
  for (std::size_t cut = 0; cut < call.size(); ++cut) EXPECT_FALSE(parse_call(std::span(call).first(cut)));
  for (std::size_t cut = 0; cut < answer.size(); ++cut) EXPECT_FALSE(parse_answer(std::span(answer).first(cut)));
  call.push_back(std::byte{0});
  answer.push_back(std::byte{0});
  EXPECT_FALSE(parse_call(call));
  EXPECT_FALSE(parse_answer(answer));
}

TEST(StoreCall, IsRefusedWhenNobodyOfOursWouldMakeIt) {
  StoreCall newer = kCall;
  newer.oldest = 71;
  EXPECT_FALSE(parse_call(message_of(newer)));
  StoreCall giving_up = kCall;
  giving_up.request.kind = RequestKind::give_up;
  EXPECT_FALSE(parse_call(message_of(giving_up)));
}

}  // namespace
}  // namespace tutti::bootstrap

#include "bootstrap/store/request.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace tutti::bootstrap {
namespace {

std::vector<Request> requests() {
  const Bytes value(3, std::byte{7});
  return {{.kind = RequestKind::set, .key = "a", .value = value},
          {.kind = RequestKind::get, .key = "b"},
          {.kind = RequestKind::wait, .key = "c"},
          {.kind = RequestKind::add, .key = "d", .delta = -5},
          {.kind = RequestKind::compare_and_swap, .key = "e", .expected = value, .value = {}},
          {.kind = RequestKind::give_up, .key = "f"}};
}

TEST(Request, ReadsWhatWasWritten) {
  for (const Request& request : requests()) {
    const Bytes frame = frame_of(request);
    const auto body = parse_frame(frame);
    ASSERT_TRUE(body && body->has_value());
    const auto again = parse_request(**body);
    ASSERT_TRUE(again) << again.status().text();
    EXPECT_EQ(*again, request);
  }
}

TEST(Request, IsRefusedWhenItsBodyIsCutOrGoesOn) {
  for (const Request& request : requests()) {
    Bytes body = body_of(request);
    for (std::size_t cut = 0; cut < body.size(); ++cut) EXPECT_FALSE(parse_request(std::span(body).first(cut)));
    body.push_back(std::byte{0});
    EXPECT_FALSE(parse_request(body));
  }
}

TEST(Request, IsRefusedOutsideOfTheLimits) {
  Bytes unknown = body_of({.kind = RequestKind::get, .key = "key"});
  for (const std::uint8_t kind : {0, 7, 255}) {
    unknown[0] = std::byte{kind};
    EXPECT_FALSE(parse_request(unknown));
  }
  EXPECT_FALSE(parse_request(body_of({.kind = RequestKind::get, .key = ""})));
  EXPECT_FALSE(parse_request(body_of({.kind = RequestKind::get, .key = std::string(kKeyBytesMax + 1, 'k')})));
  EXPECT_FALSE(parse_request(body_of({.kind = RequestKind::set, .key = "key", .value = Bytes(kValueBytesMax + 1)})));
}

TEST(Reply, ReadsWhatWasWritten) {
  for (const Reply& reply : {Reply{}, Reply{Outcome::value, Code::ok, Bytes(5)},
                             Reply{Outcome::failure, Code::invalid_usage, Bytes(9, std::byte{'x'})}}) {
    const auto again = parse_reply(body_of(reply));
    ASSERT_TRUE(again) << again.status().text();
    EXPECT_EQ(*again, reply);
  }
}

TEST(Reply, IsRefusedWhenItContradictsItself) {
  EXPECT_FALSE(parse_reply(body_of(Reply{Outcome::value, Code::internal, {}})));
  EXPECT_FALSE(parse_reply(body_of(Reply{Outcome::failure, Code::ok, {}})));
  EXPECT_FALSE(parse_reply(body_of(Reply{static_cast<Outcome>(9), Code::ok, {}})));
  EXPECT_FALSE(parse_reply(body_of(Reply{Outcome::failure, static_cast<Code>(99), {}})));
}

TEST(Frame, IsWholeOrNotThereYetOrImpossible) {
  const Bytes frame = frame_of({.kind = RequestKind::get, .key = "key"});
  for (std::size_t cut = 0; cut < frame.size(); ++cut) {
    const auto body = parse_frame(std::span(frame).first(cut));
    ASSERT_TRUE(body);
    EXPECT_FALSE(body->has_value()) << cut;
  }
  Bytes lengths;
  append_number(lengths, static_cast<std::uint32_t>(kFrameBytesMax + 1));
  EXPECT_FALSE(parse_frame(lengths));
  EXPECT_FALSE(parse_frame(Bytes(kFrameHeaderBytes)));
}

}  // namespace
}  // namespace tutti::bootstrap

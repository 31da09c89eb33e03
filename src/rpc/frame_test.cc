#include "rpc/frame.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace tutti::rpc {
namespace {

Bytes whole(FrameHeader header, std::size_t body_bytes) {
  header.body_bytes = static_cast<std::uint32_t>(body_bytes);
  Bytes bytes;
  append(bytes, pack(header));
  for (std::size_t index = 0; index < body_bytes; ++index) bytes.push_back(static_cast<std::byte>(index));
  return bytes;
}

TEST(Frame, ComesOutHoweverTheStreamIsCut) {
  Random random(3);
  Bytes stream;
  std::vector<FrameHeader> headers;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{5000}, std::size_t{0}, std::size_t{12}}) {
    headers.push_back({.body_bytes = static_cast<std::uint32_t>(size),
                       .service = static_cast<std::uint16_t>(size + 1),
                       .kind = FrameKind::message,
                       .epoch = static_cast<std::uint32_t>(random.next())});
    append(stream, whole(headers.back(), size));
  }
  for (int round = 0; round < 200; ++round) {
    FrameReader reader;
    std::vector<FrameHeader> found;
    std::span<const std::byte> rest(stream);
    while (!rest.empty()) {
      auto piece = rest.first(std::min<std::size_t>(rest.size(), 1 + random.below(30)));
      rest = rest.subspan(piece.size());
      while (!piece.empty()) {
        auto frame = reader.take(piece);
        ASSERT_TRUE(frame);
        if (!*frame) continue;
        EXPECT_EQ((*frame)->body.size(), (*frame)->header.body_bytes);
        found.push_back((*frame)->header);
      }
    }
    ASSERT_EQ(found, headers);
  }
}

TEST(Frame, IsRefusedWhenItIsTooLongOrOfNoKnownKind) {
  Bytes bytes = whole({.kind = FrameKind::message}, 0);
  store_number(std::span(bytes), static_cast<std::uint32_t>(kMessageBytesMax + 1));
  std::span<const std::byte> rest(bytes);
  FrameReader reader;
  EXPECT_FALSE(reader.take(rest));
  rest = bytes;
  EXPECT_FALSE(reader.take(rest)) << "a failure is the end";
  for (const int kind : {0, 5, 0x100}) {
    bytes = whole({.kind = static_cast<FrameKind>(kind)}, 0);
    rest = bytes;
    EXPECT_FALSE(FrameReader().take(rest)) << kind;
  }
}

TEST(Frame, TakesMemoryForWhatHasComeOnly) {
  Bytes bytes = whole({.kind = FrameKind::message}, 100);
  store_number(std::span(bytes), static_cast<std::uint32_t>(kMessageBytesMax));
  FrameReader reader;
  std::span<const std::byte> rest(bytes);
  const auto frame = reader.take(rest);
  ASSERT_TRUE(frame);
  EXPECT_FALSE(frame->has_value());
  EXPECT_LE(reader.held_bytes(), 4096u);
}

}  // namespace
}  // namespace tutti::rpc

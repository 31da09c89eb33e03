// What travels between ranks of different hosts: words and values of a channel, each with a number, so that what comes
// twice or over several connections is put together all the same.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tutti::transport {

static_assert(std::endian::native == std::endian::little,
              "frames are little-endian, as every machine that this runs on");

enum class FrameKind : std::uint8_t {
  entry = 1,  // the rank has entered a call: payload Announcement
  token,      // a message without a value
  value,      // a part of one: sizes of its chunks (in the first part), then data
  taken,      // so many values of this lane have been taken
  received,   // so many messages of this lane have come: after a connection was lost
};

// What a rank says of a call that it enters: see Record and Head in block.h.
struct Announcement {
  std::uint64_t tag = 0;
  std::uint64_t count = 0;
  std::uint64_t what = 0;
  std::uint64_t detail = 0;
};

struct FrameHeader {
  FrameKind kind = FrameKind::token;
  std::uint8_t port = 0;  // which channel between the two ranks
  std::uint8_t lane = 0;
  std::uint8_t reserved = 0;
  std::uint32_t number = 0;   // of the message in its lane, from 1; of `taken` and `received`: how many
  std::uint32_t ordinal = 0;  // of the value among the values of its lane, from 0
  std::uint32_t chunks = 0;   // sizes that stand before the data; 0 in all parts but the first
  std::uint64_t value_bytes = 0;
  std::uint64_t part_at = 0;
  std::uint64_t part_bytes = 0;
};
static_assert(sizeof(FrameHeader) == 40);

inline constexpr std::size_t kFrameHeaderBytes = sizeof(FrameHeader);

}  // namespace tutti::transport

#include "rpc/frame.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::rpc {
namespace {

constexpr std::size_t kServiceAt = 4;
constexpr std::size_t kKindAt = 6;
constexpr std::size_t kEpochAt = 8;

Result<FrameHeader> parse(std::span<const std::byte> bytes) {
  FrameHeader header;
  header.body_bytes = load_number<std::uint32_t>(bytes);
  header.service = load_number<std::uint16_t>(bytes.subspan(kServiceAt));
  const auto kind = load_number<std::uint16_t>(bytes.subspan(kKindAt));
  header.epoch = load_number<std::uint32_t>(bytes.subspan(kEpochAt));
  if (header.body_bytes > kMessageBytesMax)
    return Status(Code::network, fmt::format("a message says it has {} bytes; at most {} are possible",
                                             header.body_bytes, kMessageBytesMax));
  if (kind < static_cast<std::uint16_t>(FrameKind::message) || kind > static_cast<std::uint16_t>(FrameKind::farewell))
    return Status(Code::network, fmt::format("there is no message of kind {}", kind));
  header.kind = static_cast<FrameKind>(kind);
  return header;
}

void move_bytes(Bytes& to, std::size_t count_max, std::span<const std::byte>& from) {
  const std::size_t count = std::min(count_max, from.size());
  append(to, from.first(count));
  from = from.subspan(count);
}

}  // namespace

std::array<std::byte, kFrameHeaderBytes> pack(const FrameHeader& header) {
  std::array<std::byte, kFrameHeaderBytes> bytes{};
  const std::span<std::byte> space(bytes);
  store_number(space, header.body_bytes);
  store_number(space.subspan(kServiceAt), header.service);
  store_number(space.subspan(kKindAt), static_cast<std::uint16_t>(header.kind));
  store_number(space.subspan(kEpochAt), header.epoch);
  return bytes;
}

Result<std::optional<Frame>> FrameReader::take(std::span<const std::byte>& bytes) {
  if (!frame_) {
    move_bytes(header_, kFrameHeaderBytes - header_.size(), bytes);
    if (header_.size() < kFrameHeaderBytes) return std::optional<Frame>();
    TUTTI_ASSIGN(const FrameHeader header, parse(header_));
    header_.clear();
    frame_.emplace(Frame{header, {}});
  }
  move_bytes(frame_->body, frame_->header.body_bytes - frame_->body.size(), bytes);
  if (frame_->body.size() < frame_->header.body_bytes) return std::optional<Frame>();
  return std::exchange(frame_, std::nullopt);
}

}  // namespace tutti::rpc

// Messages of the control plane in a stream of bytes: a header of fixed size, then the body.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "tutti/status.h"

namespace tutti::rpc {

// The control plane agrees on things; whoever needs more has mistaken it for a transport.
inline constexpr std::size_t kMessageBytesMax = std::size_t{16} << 20;
inline constexpr std::size_t kFrameHeaderBytes = 12;

enum class FrameKind : std::uint16_t {
  message = 1,    // for an actor
  addresses = 2,  // where the sender listens, one address a line
  goodbye = 3,    // the sender expects nothing more; says so again after each message that proves it wrong
  farewell = 4,   // the last of a stream whose end is no loss: both have said goodbye
};

struct FrameHeader {
  std::uint32_t body_bytes = 0;
  std::uint16_t service = 0;  // of a message
  FrameKind kind = FrameKind::message;
  // Counts the connections that the sender has sent over to this peer. What arrives late over one that it has given up
  // is dropped, so that messages never change their order.
  std::uint32_t epoch = 0;
  bool operator==(const FrameHeader&) const = default;
};

struct Frame {
  FrameHeader header;
  Bytes body;
};

std::array<std::byte, kFrameHeaderBytes> pack(const FrameHeader& header);

// Puts frames together as their bytes come. Memory grows with what has come, not with what a header promises.
class FrameReader {
 public:
  // Takes from the front of `bytes` up to the end of the next frame. nullopt: all were taken and more have to come.
  // After a failure nothing can be read any more.
  Result<std::optional<Frame>> take(std::span<const std::byte>& bytes);
  std::size_t held_bytes() const { return header_.capacity() + (frame_ ? frame_->body.capacity() : 0); }

 private:
  Bytes header_;
  std::optional<Frame> frame_;  // whose body is not whole yet
};

}  // namespace tutti::rpc

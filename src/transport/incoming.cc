#include "transport/incoming.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tutti::transport {

Incoming::Incoming(const std::array<Remote*, kPorts>& ports, Read read, Repeat repeat)
    : ports_(ports), read_(std::move(read)), repeat_(std::move(repeat)) {}

Status Incoming::progress() {
  for (std::size_t total = 0; total < kBytesPerTurn;) {
    TUTTI_ASSIGN(const std::size_t bytes, read_once());
    if (bytes == 0) return {};
    total += bytes;
    TUTTI_TRY(parse());
    if (bytes < space_) return {};  // that was all: asking again would cost a system call
  }
  return {};
}

// The rest of the data that is coming goes where it belongs, what follows it goes to the buffer.
Result<std::size_t> Incoming::read_once() {
  begin_ = end_ = 0;
  // After a large value another is likely, which should not come into the buffer first; the words before it may.
  space_ = header_.part_bytes < kLargeBytes ? kBufferBytes : kWordsBytes;
  iovec pieces[2] = {{}, {buffer_.data(), space_}};
  if (phase_ != Phase::data) {
    TUTTI_ASSIGN(end_, read_(std::span(pieces).subspan(1)));
    return end_;
  }
  const auto lock = remote().lock();  // until it is read: the caller may want its memory back
  const Stretch place = remote().place_of(header_, done_);
  pieces[0] = {place.data, place.bytes};
  space_ += place.bytes;
  TUTTI_ASSIGN(const std::size_t bytes, read_(pieces));
  const std::size_t direct = std::min(bytes, place.bytes);
  done_ += direct;
  end_ = bytes - direct;
  if (done_ == header_.part_bytes) TUTTI_TRY(end_value());
  return bytes;
}

std::size_t Incoming::take(std::byte* target, std::size_t bytes) {
  bytes = std::min(bytes, buffered());
  std::memcpy(target, buffer_.data() + begin_, bytes);
  begin_ += bytes;
  return bytes;
}

Status Incoming::parse() {
  while (buffered() > 0) {
    switch (phase_) {
      case Phase::header:
        done_ += take(reinterpret_cast<std::byte*>(&header_) + done_, kFrameHeaderBytes - done_);
        if (done_ == kFrameHeaderBytes) TUTTI_TRY(begin_frame());
        break;
      case Phase::sizes: {
        const auto lock = remote().lock();
        const auto sizes = header_.kind == FrameKind::entry ? std::as_writable_bytes(std::span(&announcement_, 1))
                                                            : remote().sizes_of(header_);
        done_ += take(sizes.data() + done_, sizes.size() - done_);
        if (done_ == sizes.size()) TUTTI_TRY(end_sizes());
        break;
      }
      case Phase::data: {
        const auto lock = remote().lock();
        const Stretch place = remote().place_of(header_, done_);
        done_ += take(place.data, place.bytes);
        if (done_ == header_.part_bytes) TUTTI_TRY(end_value());
        break;
      }
      case Phase::skip: {
        const std::size_t bytes = std::min<std::uint64_t>(buffered(), skipped_bytes() - done_);
        begin_ += bytes;
        done_ += bytes;
        if (done_ == skipped_bytes()) begin_header();
        break;
      }
    }
  }
  return {};
}

Status Incoming::begin_frame() {
  done_ = 0;
  if (header_.port >= kPorts) {
    return Status(Code::network, fmt::format("a message for port {} of {}", header_.port, kPorts));
  }
  const auto lock = remote().lock();
  TUTTI_TRY(remote().validate(header_));
  switch (header_.kind) {
    case FrameKind::entry: phase_ = Phase::sizes; return {};
    case FrameKind::token: return remote().add_token(header_);
    case FrameKind::taken: remote().set_taken(header_); return {};
    case FrameKind::received:
      if (repeat_) repeat_(header_);
      return {};
    case FrameKind::value: return begin_value();
  }
  return Status(Code::network, fmt::format("a message of kind {}, which nobody sends", static_cast<int>(header_.kind)));
}

Status Incoming::begin_value() {
  TUTTI_ASSIGN(const bool is_new, remote().begin_part(header_));
  if (!is_new) {
    phase_ = skipped_bytes() > 0 ? Phase::skip : Phase::header;
    return {};
  }
  if (header_.chunks > 0) {
    phase_ = Phase::sizes;
    return {};
  }
  return begin_data();
}

Status Incoming::end_sizes() {
  if (header_.kind == FrameKind::entry) {
    remote().announce(announcement_);
    begin_header();
    return {};
  }
  return begin_data();
}

Status Incoming::begin_data() {
  done_ = 0;
  phase_ = Phase::data;
  return header_.part_bytes == 0 ? end_value() : Status();
}

Status Incoming::end_value() {
  begin_header();
  return remote().end_part(header_);
}

}  // namespace tutti::transport

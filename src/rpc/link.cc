#include "rpc/link.h"

#include <fmt/format.h>

#include <algorithm>

#include "os/clock.h"

namespace tutti::rpc {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr int kReadsAtOnce = 16;  // then others have their turn
constexpr std::size_t kPartsAtOnce = 64;
constexpr std::chrono::seconds kLinger(5);  // how long the other side may take to end its stream

iovec part_of(std::span<const std::byte> bytes) { return {const_cast<std::byte*>(bytes.data()), bytes.size()}; }

}  // namespace

Link::Link(os::EventLoop& loop, Greeted greeted, Owner& owner)
    : loop_(loop), owner_(owner), peer_(greeted.peer.id), conduit_(std::move(greeted.conduit)) {}

Status Link::start() {
  // At once for writing too: reading then begins from the loop, also of bytes that polling does not announce.
  interest_ = os::kReadable | os::kWritable;
  TUTTI_ASSIGN(watch_, loop_.watch(conduit_.fd(), interest_, [this] { advance(); }));
  return {};
}

void Link::send(const FrameHeader& header, Bytes body) {
  if (is_finishing() || has_ended_) return;
  FrameHeader whole = header;
  whole.body_bytes = static_cast<std::uint32_t>(body.size());
  has_said_goodbye_ = header.kind == FrameKind::goodbye || header.kind == FrameKind::farewell;
  if (header.kind == FrameKind::message) has_heard_goodbye_ = false;  // the other side may expect something again
  queued_bytes_ += kFrameHeaderBytes + body.size();
  outgoing_.push_back({pack(whole), std::move(body)});
  update_interest();
}

void Link::finish_writing() {
  if (is_finishing_) return;
  is_finishing_ = true;
  linger_ = loop_.call_at(Deadline::after(os::now(), kLinger).at, [this] {
    end(Status(Code::peer_lost, fmt::format("{} did not end the connection", peer_text()), Scope::connection));
  });
  update_interest();
}

void Link::set_reading(bool is_reading) {
  is_reading_ = is_reading;
  update_interest();
}

void Link::update_interest() {
  if (has_ended_) return;
  const bool has_to_shut_down = is_finishing_ && !has_shut_down_;
  std::uint32_t interest = 0;
  if (is_reading_ && !is_at_end_) interest |= os::kReadable;
  // Bytes that are already here have to be read although nothing more comes: writing announces that.
  if (!is_written() || has_to_shut_down || is_at_end_ || (is_reading_ && conduit_.has_buffered()))
    interest |= os::kWritable;
  if (interest == interest_) return;
  interest_ = interest;
  loop_.change(watch_, interest);
}

void Link::close() {
  has_ended_ = true;
  loop_.unwatch(watch_);
  loop_.cancel(linger_);
}

void Link::end(const Status& why) {
  close();
  owner_.end_link(*this, why);
}

void Link::advance() {
  if (const Status status = write(); !status) return end(status);
  if (is_reading_ && !is_at_end_) {
    if (const Status status = read(); !status) {
      if (status.code() != Code::peer_lost || !has_heard_farewell_) return end(status);
      is_at_end_ = true;
    }
    if (has_ended_) return;  // closed by what a frame has led to
  }
  if (is_at_end_ && is_written()) return end(Status(Code::peer_lost, fmt::format("closed by {}", peer_text())));
  if (is_finishing_ && !has_shut_down_ && is_written()) {
    has_shut_down_ = true;
    conduit_.shutdown_write();
  }
  update_interest();
}

Status Link::read() {
  std::array<std::byte, kReadBytes> space;
  for (int count = 0; count < kReadsAtOnce && is_reading_ && !has_ended_; ++count) {
    const iovec part{space.data(), space.size()};
    TUTTI_ASSIGN(const std::size_t bytes, conduit_.read({&part, 1}));
    if (bytes == 0) return {};
    TUTTI_TRY(take(std::span(space).first(bytes)));
  }
  return {};
}

Status Link::take(std::span<const std::byte> bytes) {
  while (!bytes.empty() && !has_ended_) {
    auto frame = reader_.take(bytes);
    if (!frame) return frame.status().while_doing(fmt::format("reading from {}", peer_text()));
    if (!*frame) continue;
    has_heard_farewell_ = (*frame)->header.kind == FrameKind::farewell;
    has_heard_goodbye_ = has_heard_farewell_ || (*frame)->header.kind == FrameKind::goodbye;
    if ((*frame)->header.kind == FrameKind::message) has_said_goodbye_ = false;
    owner_.take_frame(*this, **std::move(frame));
  }
  return {};
}

void Link::forget_written(std::size_t count) {
  queued_bytes_ -= count;
  front_written_ += count;
  while (!outgoing_.empty() && front_written_ >= kFrameHeaderBytes + outgoing_.front().body.size()) {
    front_written_ -= kFrameHeaderBytes + outgoing_.front().body.size();
    outgoing_.pop_front();
  }
}

Status Link::write() {
  if (conduit_.wants_write()) TUTTI_TRY(conduit_.flush());
  while (!outgoing_.empty()) {
    std::array<iovec, kPartsAtOnce> parts;
    std::size_t part_count = 0;
    std::size_t skip = front_written_;
    for (const Outgoing& frame : outgoing_) {
      if (part_count + 2 > kPartsAtOnce) break;
      for (const std::span<const std::byte> bytes :
           {std::span<const std::byte>(frame.header), std::span<const std::byte>(frame.body)}) {
        const std::size_t skipped = std::min(skip, bytes.size());
        skip -= skipped;
        if (skipped < bytes.size()) parts[part_count++] = part_of(bytes.subspan(skipped));
      }
    }
    TUTTI_ASSIGN(const std::size_t count, conduit_.write(std::span(parts).first(part_count)));
    if (count == 0) return {};
    forget_written(count);
  }
  return {};
}

}  // namespace tutti::rpc

#include "transport/tcp/tcp_wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti::transport {

namespace {

constexpr std::size_t kPiecesPerWrite = 64;

std::size_t bytes_of(std::span<const Stretch> data) {
  std::size_t bytes = 0;
  for (const Stretch& stretch : data) bytes += stretch.bytes;
  return bytes;
}

// Bytes `at` to `at + bytes` of data that lies in several stretches.
std::vector<Stretch> cut(std::span<const Stretch> data, std::size_t at, std::size_t bytes) {
  std::vector<Stretch> pieces;
  for (const Stretch& stretch : data) {
    if (at >= stretch.bytes) {
      at -= stretch.bytes;
      continue;
    }
    const std::size_t length = std::min(bytes, stretch.bytes - at);
    if (length == 0) break;
    pieces.push_back({stretch.data + at, length});
    bytes -= length;
    at = 0;
  }
  return pieces;
}

FrameHeader header_of(FrameKind kind, Port port, std::uint32_t lane, std::uint32_t number) {
  return {
      .kind = kind, .port = static_cast<std::uint8_t>(port), .lane = static_cast<std::uint8_t>(lane), .number = number};
}

}  // namespace

TcpWire::TcpWire(const std::array<Remote*, kPorts>& ports, std::size_t rails, Warn warn)
    : ports_(ports), rail_count_(rails), warn_(std::move(warn)) {}

void TcpWire::add(rpc::Conduit conduit, std::size_t rail, std::string name) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return;
  auto added = std::make_unique<Rail>(Rail{rail, std::move(name), std::move(conduit), {}, {}, false});
  Rail* const made = added.get();
  made->incoming = std::make_unique<Incoming>(
      ports_, [made](std::span<const iovec> pieces) { return made->conduit.read(pieces); },
      [this](const FrameHeader& header) { requests_.push_back(header); });
  has_connected_ = true;
  if (rails_.empty()) made->outgoing = std::move(before_);
  rails_.push_back(std::move(added));
  // The fastest first, as both sides number them.
  std::sort(rails_.begin(), rails_.end(), [](const auto& a, const auto& b) { return a->index < b->index; });
}

void TcpWire::fail(const Status& why) {
  const std::lock_guard lock(mutex_);
  if (rails_.empty()) failure_ = why;
}

bool TcpWire::is_connected() const {
  const std::lock_guard lock(mutex_);
  return has_connected_;
}

std::vector<std::string> TcpWire::rails() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& rail : rails_) names.push_back(rail->name);
  return names;
}

Outgoing& TcpWire::first_queue() { return rails_.empty() ? before_ : rails_[0]->outgoing; }

void TcpWire::send_entry(Port port, const Announcement& announcement, bool is_urgent) {
  const std::lock_guard lock(mutex_);
  if (has_spare()) {
    auto& kept = announcements_[static_cast<std::size_t>(port)];
    kept.push_back(announcement);
    if (kept.size() > kAnnouncementsKept) kept.pop_front();
  }
  first_queue().add(header_of(FrameKind::entry, port, 0, 0), std::as_bytes(std::span(&announcement, 1)), {}, false);
  if (!is_urgent) return;
  is_urgent_ = true;
  push();
}

void TcpWire::send_token(Port port, std::uint32_t lane, std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  lane_of(static_cast<std::size_t>(port), lane).last_number = number;
  first_queue().add(header_of(FrameKind::token, port, lane, number), {}, {}, false);
  is_urgent_ = true;
  push();
}

void TcpWire::send_value(const Parcel& parcel) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return;
  queue_value(parcel);
  is_urgent_ = true;
  push();
}

void TcpWire::queue_value(const Parcel& parcel) {
  LaneState& lane = lane_of(static_cast<std::size_t>(parcel.port), parcel.lane);
  lane.last_number = parcel.number;
  if (!has_spare()) return queue_whole(parcel);
  forget_taken(parcel.port, parcel.lane);
  const bool is_held = keeps(bytes_of(parcel.data));
  const std::uint32_t end = parcel.ordinal + 1;
  if (is_held) {
    lane.held.store(end, std::memory_order_relaxed);
    lane.sent.push_back({parcel.number, parcel.ordinal, parcel.sizes, {parcel.data.begin(), parcel.data.end()}});
    queue_parts(lane.sent.back(), parcel.port, parcel.lane);
  } else {
    // Counters go around: what was held long ago must not seem to lie ahead.
    const std::uint32_t taken = ports_[static_cast<std::size_t>(parcel.port)]->taken_by_other(parcel.lane);
    if (has_reached(taken, lane.held.load(std::memory_order_relaxed))) {
      lane.held.store(taken, std::memory_order_relaxed);
    }
    lane.sent.push_back(copy_of(parcel));
    const Sent& kept = lane.sent.back();
    queue_whole({parcel.port, parcel.lane, kept.number, kept.ordinal, kept.sizes, kept.data});
  }
  lane.queued.store(end, std::memory_order_relaxed);
}

TcpWire::Sent TcpWire::copy_of(const Parcel& parcel) {
  Sent sent{.number = parcel.number, .ordinal = parcel.ordinal, .sizes = {}, .data = {}};
  sent.own_sizes.assign(parcel.sizes.begin(), parcel.sizes.end());
  for (const Stretch& stretch : parcel.data) {
    sent.own_data.insert(sent.own_data.end(), stretch.data, stretch.data + stretch.bytes);
  }
  sent.sizes = sent.own_sizes;
  sent.data = {{sent.own_data.data(), sent.own_data.size()}};
  return sent;
}

void TcpWire::queue_whole(const Parcel& parcel) {
  FrameHeader header = header_of(FrameKind::value, parcel.port, parcel.lane, parcel.number);
  header.ordinal = parcel.ordinal;
  header.chunks = static_cast<std::uint32_t>(parcel.sizes.size());
  header.value_bytes = header.part_bytes = bytes_of(parcel.data);
  first_queue().add(header, std::as_bytes(parcel.sizes), parcel.data, true);
}

void TcpWire::queue_parts(const Sent& value, Port port, std::uint32_t lane) {
  FrameHeader header = header_of(FrameKind::value, port, lane, value.number);
  header.ordinal = value.ordinal;
  header.value_bytes = bytes_of(value.data);
  do {
    Part part{.header = header, .sizes = {}, .data = {}};
    part.header.part_bytes = std::min<std::uint64_t>(kPartBytes, header.value_bytes - header.part_at);
    if (header.part_at == 0) {
      part.header.chunks = static_cast<std::uint32_t>(value.sizes.size());
      part.sizes = value.sizes;
    }
    part.data = cut(value.data, header.part_at, part.header.part_bytes);
    header.part_at += part.header.part_bytes;
    parts_.push_back(std::move(part));
  } while (header.part_at < header.value_bytes);
}

void TcpWire::send_taken(Port port, std::uint32_t lane, std::uint32_t count, bool is_urgent) {
  const std::lock_guard lock(mutex_);
  first_queue().add(header_of(FrameKind::taken, port, lane, count), {}, {}, false);
  if (!is_urgent) return;
  is_urgent_ = true;
  push();
}

std::uint32_t TcpWire::values_gone(Port port, std::uint32_t lane) const {
  const auto index = static_cast<std::size_t>(port);
  const LaneState& state = lane_of(index, lane);
  if (!has_spare()) return state.gone.load(std::memory_order_acquire);
  const std::uint32_t taken = ports_[index]->taken_by_other(lane);
  const bool holds_nothing = has_reached(taken, state.held.load(std::memory_order_relaxed));
  return holds_nothing ? state.queued.load(std::memory_order_relaxed) : taken;
}

bool TcpWire::is_flushed() const {
  const std::lock_guard lock(mutex_);
  if (is_closed_ || !failure_) return true;
  if (is_urgent_ || !parts_.empty()) return false;
  if (!has_spare()) return true;
  for (std::size_t port = 0; port < kPorts; ++port) {
    for (std::uint32_t lane = 0; lane < kLanesMax; ++lane) {
      const std::uint32_t held = lane_of(port, lane).held.load(std::memory_order_relaxed);
      if (!has_reached(ports_[port]->taken_by_other(lane), held)) return false;
    }
  }
  return true;
}

void TcpWire::take_part(Rail& rail) {
  const Part& part = parts_.front();
  rail.outgoing.add(part.header, std::as_bytes(part.sizes), part.data, false);
  parts_.pop_front();
}

// The connection that has least to send, so that each carries what it can; nullptr: none takes more.
TcpWire::Rail* TcpWire::find_idlest() const {
  Rail* idlest = nullptr;
  std::size_t least = 0;
  for (const auto& rail : rails_) {
    if (rail->is_deaf || !rail->is_flushed()) continue;
    const std::size_t bytes = rails_.size() == 1 ? 0 : rail->conduit.socket().unacknowledged_bytes();
    if (idlest != nullptr && bytes >= least) continue;
    idlest = rail.get();
    least = bytes;
  }
  return idlest;
}

void TcpWire::push_rail(Rail& rail) {
  // Not lost yet: reading comes to the same failure once it has read what had come before.
  if (rail.is_deaf || !write_queue(rail)) {
    rail.is_deaf = true;
    rail.outgoing.clear();
  }
}

Status TcpWire::write_queue(Rail& rail) {
  for (;;) {
    if (rail.outgoing.is_empty()) {
      if (rail.conduit.wants_write()) TUTTI_TRY(rail.conduit.flush());
      return {};
    }
    iovec pieces[kPiecesPerWrite];
    const std::size_t count = rail.outgoing.gather(pieces);
    TUTTI_ASSIGN(const std::size_t written, rail.conduit.write(std::span(pieces, count)));
    if (written == 0) return {};
    rail.outgoing.advance(written, [this](std::uint8_t port, std::uint8_t lane) {
      // release: pairs with the acquire in values_gone, after which the memory is used again
      lane_of(port, lane).gone.fetch_add(1, std::memory_order_release);
    });
  }
}

void TcpWire::push() {
  if (rails_.empty() || is_closed_) return;
  for (const auto& rail : rails_) push_rail(*rail);
  while (!parts_.empty()) {
    Rail* const rail = find_idlest();
    if (rail == nullptr) break;
    take_part(*rail);
    push_rail(*rail);
  }
  const bool is_empty = std::all_of(rails_.begin(), rails_.end(), [](const auto& rail) { return rail->is_flushed(); });
  if (is_empty && parts_.empty()) is_urgent_ = false;
}

Status TcpWire::progress() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || is_closed_) return {};  // whoever has it does what is to be done
  TUTTI_TRY(failure_);
  if (is_urgent_) push();
  for (std::size_t i = 0; i < rails_.size();) {
    const Status status = rails_[i]->incoming->progress();
    if (status) {
      ++i;
    } else {
      lose(i, status);
    }
  }
  if (!requests_.empty()) answer_requests();
  return failure_;
}

void TcpWire::drop_unanswered(std::chrono::milliseconds silence) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < rails_.size();) {
    if (rails_[i]->conduit.socket().is_unanswered(silence)) {
      lose(i, {Code::network, fmt::format("nothing was acknowledged for {} ms", silence.count()), Scope::connection});
    } else {
      ++i;
    }
  }
}

bool TcpWire::has_unacknowledged() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(rails_.begin(), rails_.end(), [](const auto& rail) {
    return !rail->is_deaf && rail->conduit.socket().unacknowledged_bytes() > 0;
  });
}

void TcpWire::answer_requests() {
  for (const FrameHeader& header : std::exchange(requests_, {})) repeat(header);
  push();
}

// Others stand in for it, if there are any: both sides say how far they have come and send the rest again.
void TcpWire::lose(std::size_t position, const Status& why) {
  const std::size_t index = rails_[position]->index;
  const std::string name = rails_[position]->name;
  rails_.erase(rails_.begin() + static_cast<std::ptrdiff_t>(position));
  if (rails_.empty()) {
    failure_ = why;
    return;
  }
  warn_(fmt::format("{} is no longer used: {}; {} of {} connections remain", name, why.text(), rails_.size(),
                    rail_count_));
  ask_again(index);
}

void TcpWire::ask_again(std::size_t rail) {
  for (std::size_t port = 0; port < kPorts; ++port) {
    for (std::uint32_t lane = 0; lane < kLanesMax; ++lane) {
      FrameHeader header = header_of(FrameKind::received, static_cast<Port>(port), lane, ports_[port]->received(lane));
      header.ordinal = static_cast<std::uint32_t>(rail);
      first_queue().add(header, {}, {}, false);
    }
  }
  is_urgent_ = true;
}

// The other side has lost a connection and tells how many messages of a lane it has.
void TcpWire::repeat(const FrameHeader& header) {
  const auto lost =
      std::find_if(rails_.begin(), rails_.end(), [&](const auto& rail) { return rail->index == header.ordinal; });
  if (lost != rails_.end() && rails_.size() > 1) {
    const std::string name = (*lost)->name;
    rails_.erase(lost);
    warn_(fmt::format("{} is no longer used: the other side has lost it; {} of {} connections remain", name,
                      rails_.size(), rail_count_));
    ask_again(header.ordinal);
  }
  const auto port = static_cast<Port>(header.port);
  LaneState& lane = lane_of(header.port, header.lane);
  if (header.lane == 0) {
    for (const Announcement& announcement : announcements_[header.port]) {
      first_queue().add(header_of(FrameKind::entry, port, 0, 0), std::as_bytes(std::span(&announcement, 1)), {}, false);
    }
  }
  for (std::uint32_t number = header.number + 1; has_reached(lane.last_number, number); ++number) {
    const auto value =
        std::find_if(lane.sent.begin(), lane.sent.end(), [&](const Sent& sent) { return sent.number == number; });
    if (value != lane.sent.end()) {
      queue_parts(*value, port, header.lane);
    } else {
      first_queue().add(header_of(FrameKind::token, port, header.lane, number), {}, {}, false);
    }
  }
  const std::uint32_t taken = ports_[header.port]->taken_here(header.lane);
  if (taken > 0) first_queue().add(header_of(FrameKind::taken, port, header.lane, taken), {}, {}, false);
  is_urgent_ = true;
}

void TcpWire::forget_taken(Port port, std::uint32_t lane) {
  if (is_urgent_ || !parts_.empty()) return;  // what is still to go may be of values that are sent again
  auto& sent = lane_of(static_cast<std::size_t>(port), lane).sent;
  const std::uint32_t taken = ports_[static_cast<std::size_t>(port)]->taken_by_other(lane);
  while (!sent.empty() && has_reached(taken, sent.front().ordinal + 1)) sent.pop_front();
}

void TcpWire::add_to(std::vector<pollfd>& polled) const {
  const std::lock_guard lock(mutex_);
  for (const auto& rail : rails_) {
    const bool has_more = !rail->is_flushed() || !parts_.empty();
    polled.push_back(
        {.fd = rail->conduit.fd(), .events = static_cast<short>(has_more ? POLLIN | POLLOUT : POLLIN), .revents = 0});
  }
}

void TcpWire::close() noexcept {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  rails_.clear();
  before_.clear();
  parts_.clear();
}

}  // namespace tutti::transport

#include "transport/remote.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "os/futex.h"

namespace tutti::transport {

namespace {

// More than a rank can be ahead of a value that is still on its way over another connection.
constexpr std::size_t kBeyondMax = 4096;
constexpr std::uint32_t kChunksMax = 1 << 16;

Status nonsense(std::string text) { return {Code::network, std::move(text), Scope::communicator}; }

BlockShape mirror_shape(Rank members) { return {.members = members}; }

}  // namespace

Remote::Remote(Rank members, Rank self, std::size_t value_bytes_max, Bell* own_bell)
    : self_(self),
      value_bytes_max_(value_bytes_max),
      own_bell_(own_bell),
      memory_((mirror_shape(members).bytes() + kLine) / sizeof(std::uint64_t)) {
  void* memory = memory_.data();
  std::size_t room = memory_.size() * sizeof(std::uint64_t);
  block_ = Block(mirror_shape(members),
                 static_cast<std::byte*>(std::align(kLine, mirror_shape(members).bytes(), memory, room)));
}

Remote::Value Remote::value(std::uint32_t lane, std::uint32_t ordinal) const {
  const Slot& slot = lanes_[lane].slots[ordinal % kInboxValues];
  return {.sizes = slot.sizes, .data = slot.has_landed ? nullptr : slot.data.data(), .has_landed = slot.has_landed};
}

void Remote::expect(std::uint32_t lane, std::uint32_t ordinal, std::span<const Stretch> places) {
  const std::lock_guard lock(mutex_);
  Expected& expected = lanes_[lane].expected;
  expected.is_set = true;
  expected.ordinal = ordinal;
  expected.places.assign(places.begin(), places.end());
  expected.bytes = 0;
  for (const Stretch& place : places) expected.bytes += place.bytes;
}

void Remote::expect_nothing() {
  const std::lock_guard lock(mutex_);
  for (Lane& lane : lanes_) lane.expected.is_set = false;
}

std::size_t Remote::bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = sizeof(Remote) + memory_.size() * sizeof(memory_[0]);
  for (const Lane& lane : lanes_) {
    for (const Slot& slot : lane.slots) bytes += slot.data.size() + slot.sizes.size() * sizeof(ChunkBytes);
  }
  return bytes;
}

Status Remote::validate(const FrameHeader& header) const {
  if (header.lane >= kLanesMax) return nonsense(fmt::format("a message for lane {} of {}", header.lane, kLanesMax));
  if (header.kind != FrameKind::value) return {};
  const bool fits = header.value_bytes <= value_bytes_max_ && header.part_bytes <= header.value_bytes &&
                    header.part_at <= header.value_bytes - header.part_bytes && header.chunks <= kChunksMax;
  if (fits) return {};
  return nonsense(fmt::format("a value of {} bytes in {} chunks, bytes {} to {} of it; at most {} bytes are possible",
                              header.value_bytes, header.chunks, header.part_at, header.part_at + header.part_bytes,
                              value_bytes_max_));
}

void Remote::announce(const Announcement& announcement) {
  const Tag tag{announcement.tag};
  Head& head = block_.head();
  // It may come again after a connection was lost.
  if (has_reached(Tag{head.tag.load(std::memory_order_relaxed)}.call(), tag.call())) return;
  Record& record = block_.record(tag.call());
  record.count.store(announcement.count, std::memory_order_relaxed);
  record.what.store(announcement.what, std::memory_order_relaxed);
  record.detail.store(announcement.detail, std::memory_order_relaxed);
  record.tag.store(tag.word, std::memory_order_release);
  head.tag.store(tag.word, std::memory_order_release);
  ring();
}

void Remote::set_taken(const FrameHeader& header) {
  Counter& taken = block_.taken(header.lane, self_);
  if (has_reached(taken.load(std::memory_order_relaxed), header.number)) return;
  taken.store(header.number, std::memory_order_release);
  ring();
}

Status Remote::add_token(const FrameHeader& header) { return complete(header.lane, header.number); }

Result<bool> Remote::begin_part(const FrameHeader& header) {
  Lane& lane = lanes_[header.lane];
  const bool is_beyond = std::find(lane.beyond.begin(), lane.beyond.end(), header.number) != lane.beyond.end();
  if (has_reached(lane.received, header.number) || is_beyond) return false;
  Slot& slot = slot_of(header);
  if (slot.ordinal != header.ordinal) {
    // The sender waits until its place is free; whoever does not is no rank of this job.
    const std::uint32_t ahead = header.ordinal - lane.taken.load(std::memory_order_acquire);
    if (ahead >= kInboxValues) return nonsense(fmt::format("value {} came {} too early", header.ordinal, ahead));
    const Expected& expected = lane.expected;
    const bool fits =
        expected.bytes == header.value_bytes || (expected.places.size() == 1 && expected.bytes > header.value_bytes);
    slot.has_landed = expected.is_set && expected.ordinal == header.ordinal && fits;
    slot.ordinal = header.ordinal;
    slot.bytes = header.value_bytes;
    slot.arrived = 0;
    slot.parts.clear();
    slot.sizes.clear();
    if (!slot.has_landed && slot.data.size() < header.value_bytes) slot.data.resize(header.value_bytes);
  }
  if (slot.bytes != header.value_bytes) {
    return nonsense(fmt::format("a value of {} bytes, then of {}", slot.bytes, header.value_bytes));
  }
  if (std::find(slot.parts.begin(), slot.parts.end(), header.part_at) != slot.parts.end()) return false;
  if (header.chunks > 0) slot.sizes.resize(header.chunks);
  return true;
}

std::span<std::byte> Remote::sizes_of(const FrameHeader& header) {
  Slot& slot = slot_of(header);
  return std::as_writable_bytes(std::span(slot.sizes).first(header.chunks));
}

Stretch Remote::place_of(const FrameHeader& header, std::uint64_t done) {
  Slot& slot = slot_of(header);
  const std::uint64_t at = header.part_at + done;
  const std::uint64_t left = header.part_bytes - done;
  if (!slot.has_landed) return {slot.data.data() + at, left};
  Expected& expected = lanes_[header.lane].expected;
  if (!expected.is_set || expected.ordinal != header.ordinal) {
    // The caller has given up: its memory is no longer ours, and nobody will ask for this value.
    slot.data.resize(slot.bytes);
    return {slot.data.data() + at, left};
  }
  std::uint64_t skip = at;
  for (const Stretch& place : expected.places) {
    if (skip < place.bytes) return {place.data + skip, std::min<std::uint64_t>(left, place.bytes - skip)};
    skip -= place.bytes;
  }
  return {};
}

Status Remote::end_part(const FrameHeader& header) {
  Slot& slot = slot_of(header);
  // It may have come over another connection meanwhile.
  if (std::find(slot.parts.begin(), slot.parts.end(), header.part_at) != slot.parts.end()) return {};
  slot.parts.push_back(header.part_at);
  slot.arrived += header.part_bytes;
  if (slot.arrived < slot.bytes) return {};
  const std::uint64_t sum = std::accumulate(slot.sizes.begin(), slot.sizes.end(), std::uint64_t{0});
  if (sum != slot.bytes || slot.arrived != slot.bytes) {
    return nonsense(fmt::format("a value of {} bytes whose chunks have {}", slot.bytes, sum));
  }
  return complete(header.lane, header.number);
}

// The counter that the engine looks at grows without gaps, in the order in which messages were sent.
Status Remote::complete(std::uint32_t lane_index, std::uint32_t number) {
  Lane& lane = lanes_[lane_index];
  if (has_reached(lane.received, number)) return {};
  if (number != lane.received + 1) {
    if (number - lane.received > kBeyondMax) {
      return nonsense(fmt::format("message {} after message {}", number, lane.received));
    }
    if (std::find(lane.beyond.begin(), lane.beyond.end(), number) == lane.beyond.end()) lane.beyond.push_back(number);
    return {};
  }
  ++lane.received;
  for (auto next = lane.beyond.begin(); !lane.beyond.empty() && next != lane.beyond.end();) {
    next = std::find(lane.beyond.begin(), lane.beyond.end(), lane.received + 1);
    if (next == lane.beyond.end()) break;
    lane.beyond.erase(next);
    ++lane.received;
    next = lane.beyond.begin();
  }
  // release: pairs with the acquire in Channel::has_message; the value is in its place.
  block_.sent(lane_index, self_).store(lane.received, std::memory_order_release);
  ring();
  return {};
}

void Remote::ring() const {
  if (own_bell_->sleeping.load(std::memory_order_relaxed) == 0) return;
  own_bell_->rings.fetch_add(1, std::memory_order_release);
  os::futex_wake_all(own_bell_->rings);
}

}  // namespace tutti::transport

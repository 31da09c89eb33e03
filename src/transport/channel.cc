#include "transport/channel.h"

#include <bit>

#include "os/futex.h"

namespace tutti::transport {

Channel::Channel(const BlockShape& shape, std::vector<Member> peers, std::vector<Block> blocks, Rank self)
    : shape_(shape), peers_(std::move(peers)), blocks_(std::move(blocks)), self_(self) {
  const std::size_t n = peers_.size();
  lanes_.resize(kLanesMax);
  for (LaneCounts& lane : lanes_) {
    for (auto* counts : {&lane.messages_taken, &lane.values_sent, &lane.values_taken, &lane.tiles_done_known}) {
      counts->assign(n, 0);
    }
  }
  calls_done_known_.assign(n, 0);
  met_.assign(n, 0);
  places_.assign(n, {});
}

std::size_t Channel::bytes() const {
  const auto room_of = [](const auto& list) { return list.capacity() * sizeof(list[0]); };
  std::size_t bytes = room_of(peers_) + room_of(blocks_) + room_of(lanes_) + room_of(calls_done_known_) +
                      room_of(met_) + room_of(places_) + room_of(links_);
  for (const LaneCounts& lane : lanes_) {
    bytes += room_of(lane.messages_taken) + room_of(lane.values_sent) + room_of(lane.values_taken) +
             room_of(lane.tiles_done_known);
  }
  return bytes;
}

void Channel::enter(const Entry& entry) {
  ++call_;
  const std::uint64_t both = std::uint64_t{fingerprint_} << 32 | entry.fingerprint;
  fingerprint_ = static_cast<std::uint32_t>(both * 0x9e3779b97f4a7c15 >> (64 - Tag::kFingerprintBits));
  mismatch_.reset();
  for (LaneCounts& lane : lanes_) lane.tile_at_entry = lane.tile;
  const Tag tag = Tag::of(call_, fingerprint_, entry.facts);
  const Block& block = mine();
  Record& record = block.record(call_);
  record.count.store(entry.count, std::memory_order_relaxed);
  record.what.store(entry.what, std::memory_order_relaxed);
  record.detail.store(entry.detail, std::memory_order_relaxed);
  record.tag.store(tag.word, std::memory_order_release);
  Head& head = block.head();
  head.in.store(entry.in, std::memory_order_relaxed);
  head.out.store(entry.out, std::memory_order_relaxed);
  head.factor.store(std::bit_cast<std::uint64_t>(entry.factor), std::memory_order_relaxed);
  head.tag.store(tag.word, std::memory_order_release);
  met_[index(self_)] = call_;
}

void Channel::link(Rank member, Remote& remote, Wire& wire, Port port) {
  links_.resize(peers_.size());
  links_[index(member)] = {.remote = &remote, .wire = &wire, .port = port, .failure = {}};
  blocks_[index(member)] = remote.block();
}

void Channel::progress_links() {
  for (Link& link : links_) {
    if (link.wire == nullptr || !link.failure) continue;
    link.failure = link.wire->progress();
  }
}

Rank Channel::find_unflushed() const {
  for (std::size_t member = 0; member < links_.size(); ++member) {
    const Link& link = links_[member];
    if (link.wire != nullptr && link.failure && !link.wire->is_flushed()) return static_cast<Rank>(member);
  }
  return kNoRank;
}

void Channel::abandon_links() noexcept {
  for (const Link& link : links_) {
    if (link.wire == nullptr) continue;
    link.remote->expect_nothing();
    link.wire->close();
  }
}

void Channel::announce(Link& link, bool is_urgent) {
  if (link.announced == call_) return;
  link.announced = call_;
  const Record& record = mine().record(call_);
  link.wire->send_entry(link.port,
                        {.tag = record.tag.load(std::memory_order_relaxed),
                         .count = record.count.load(std::memory_order_relaxed),
                         .what = record.what.load(std::memory_order_relaxed),
                         .detail = record.detail.load(std::memory_order_relaxed)},
                        is_urgent);
}

void Channel::send_token(std::uint32_t lane, Rank to) {
  Link& link = links_[index(to)];
  announce(link, false);
  tell_taken_with_message(link, to);
  link.wire->send_token(link.port, lane, mine().sent(lane, to).load(std::memory_order_relaxed));
}

void Channel::send_value(std::uint32_t lane, Rank to, std::span<const ChunkBytes> sizes,
                         std::span<const Stretch> data) {
  Link& link = links_[index(to)];
  announce(link, false);
  tell_taken_with_message(link, to);
  Counter& sent = mine().sent(lane, to);
  const std::uint32_t number = sent.load(std::memory_order_relaxed) + 1;
  sent.store(number, std::memory_order_relaxed);
  link.wire->send_value({.port = link.port,
                         .lane = lane,
                         .number = number,
                         .ordinal = lanes_[lane].values_sent[index(to)]++,
                         .sizes = sizes,
                         .data = data});
}

bool Channel::has_free_slot_on_wire(std::uint32_t lane, Rank to, std::uint32_t slots) const {
  const Link& link = links_[index(to)];
  const std::uint32_t next = lanes_[lane].values_sent[index(to)] + 1;
  return has_reached(link.remote->taken_by_other(lane) + kInboxValues, next) &&
         has_reached(link.wire->values_gone(link.port, lane) + slots, next);
}

// Ranks that answer each other tell with their next message. Where none follows, half of the places in the inbox are
// told at a time: the other half keeps the sender going meanwhile.
void Channel::tell_taken(std::uint32_t lane, Rank from) {
  Link& link = links_[index(from)];
  const std::uint32_t taken = lanes_[lane].values_taken[index(from)];
  const bool is_awaited = link.wire->keeps(link.remote->value_bytes(lane, taken - 1));
  link.remote->count_taken(lane);
  if (!is_awaited && taken - link.taken_told[lane] < kInboxValues / 2) return;
  link.taken_told[lane] = taken;
  link.wire->send_taken(link.port, lane, taken, true);
}

void Channel::tell_taken_with_message(Link& link, Rank to) {
  for (std::uint32_t lane = 0; lane < kLanesMax; ++lane) {
    const std::uint32_t taken = lanes_[lane].values_taken[index(to)];
    if (taken == link.taken_told[lane]) continue;
    link.taken_told[lane] = taken;
    link.wire->send_taken(link.port, lane, taken, false);
  }
}

void Channel::leave() {
  mine().progress().calls_done.store(call_, std::memory_order_release);
  ring_all();
}

std::optional<Tag> Channel::meet(Rank member) {
  const Block& block = blocks_[index(member)];
  Tag tag{block.head().tag.load(std::memory_order_acquire)};
  const bool has_gone_on = tag.call() != call_;
  if (has_gone_on) tag.word = block.record(call_).tag.load(std::memory_order_acquire);
  if (tag.call() != call_ || tag.fingerprint() != fingerprint_) {
    mismatch_ = member;
    return std::nullopt;
  }
  if (met_[index(member)] != call_) {
    met_[index(member)] = call_;
    note_progress_of(member);
    if (!has_gone_on) resolve(member, tag);
  }
  return tag;
}

void Channel::resolve(Rank member, Tag tag) {
  const Member& peer = peers_[index(member)];
  const Head& head = blocks_[index(member)].head();
  const auto locate = [&](std::uint64_t at, bool reaches) {
    // Numbers, not pointers: a plan's buffer may begin before the caller's (a rank's block of an all_gather).
    const std::uint64_t base = reaches ? reinterpret_cast<std::uintptr_t>(peer.heap) : 0;
    return reinterpret_cast<std::byte*>(base + at);
  };
  const bool reaches_in = (tag.facts() & Tag::kReachesIn) != 0;
  const bool reaches_out = (tag.facts() & Tag::kReachesOut) != 0;
  places_[index(member)] = {
      .in = locate(head.in.load(std::memory_order_relaxed), reaches_in),
      .out = locate(head.out.load(std::memory_order_relaxed), reaches_out),
      .factor = std::bit_cast<double>(head.factor.load(std::memory_order_relaxed)),
      .pulls_in = !peer.is_same_process && !reaches_in,
      .pulls_out = !peer.is_same_process && !reaches_out,
  };
}

bool Channel::find_mismatch() {
  for (Rank member = 0; member < size() && !mismatch_; ++member) {
    if (member == self_ || !has_entered(member)) continue;
    const Block& block = blocks_[index(member)];
    const Tag tag{block.record(call_).tag.load(std::memory_order_acquire)};
    if (tag.call() == call_ && tag.fingerprint() != fingerprint_) mismatch_ = member;
  }
  return mismatch_.has_value();
}

void Channel::count_value_taken(std::uint32_t lane, Rank from) {
  const std::uint32_t taken = ++lanes_[lane].values_taken[index(from)];
  mine().taken(lane, from).store(taken, std::memory_order_release);
  if (is_linked(from)) return tell_taken(lane, from);
  ring(from);
}

void Channel::end_tiles(std::uint32_t lane, std::uint32_t count) {
  const std::uint32_t done = lanes_[lane].tile += count;
  mine().progress().tiles_done[lane].store(done, std::memory_order_release);
  ring_all();
}

Rank Channel::find_stage_user(std::uint32_t lane, std::uint32_t tiles_in_stage) {
  LaneCounts& counts = lanes_[lane];
  const std::uint32_t wanted = counts.tile - tiles_in_stage + 1;
  for (Rank member = 0; member < size(); ++member) {
    std::uint32_t& known = counts.tiles_done_known[index(member)];
    if (member == self_ || is_remote(member) || has_reached(known, wanted)) continue;
    known = block(member).progress().tiles_done[lane].load(std::memory_order_acquire);
    if (!has_reached(known, wanted)) return member;
  }
  return kNoRank;
}

Rank Channel::find_behind(std::uint32_t calls) {
  const std::uint32_t wanted = call_ - calls;
  for (Rank member = 0; member < size(); ++member) {
    std::uint32_t& known = calls_done_known_[index(member)];
    if (member == self_ || is_remote(member) || has_reached(known, wanted)) continue;
    known = block(member).progress().calls_done.load(std::memory_order_acquire);
    if (!has_reached(known, wanted)) return member;
  }
  return kNoRank;
}

void Channel::ring_all() const {
  for (Rank member = 0; member < size(); ++member) {
    if (member != self_) ring(member);
  }
}

void Channel::wake(Rank member) const {
  const Bell& bell = blocks_[index(member)].bell();
  Counter& rings = const_cast<Counter&>(bell.rings);
  rings.fetch_add(1, std::memory_order_release);
  os::futex_wake_all(rings);
}

}  // namespace tutti::transport

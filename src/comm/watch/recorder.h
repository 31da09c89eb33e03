// The flight recorder of one side: what its last calls were and how far they came. Always on, some ten nanoseconds a
// call.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "comm/description.h"
#include "comm/watch/format.h"
#include "os/ticks.h"
#include "transport/channel.h"

namespace tutti::comm::watch {

struct SideFacts {
  Rank rank = 0;
  std::span<const transport::Member> peers;  // by rank
  std::string_view store;                    // where they met: the same on every rank
};

// What a call asks for, when it is recorded.
struct CallFacts {
  std::uint32_t turn = 0;    // its place in the order of calls of its track
  std::uint32_t number = 0;  // on its track, from 1
  CallKey key = {};
  std::uint64_t bytes = 0;
  std::uint8_t plan = 0;
};

// 1 + the place of an algorithm in the names that the recorder writes down; 0: it has none.
std::uint8_t plan_index(std::string_view algorithm);

// The record of one call, which only its operation writes.
class Line {
 public:
  Line() = default;
  Line(CallSlot& slot, std::uint64_t stamp, os::TickSource source) : slot_(&slot), stamp_(stamp), source_(source) {}
  explicit operator bool() const { return slot_ != nullptr; }
  std::uint32_t place() const { return static_cast<std::uint32_t>(stamp_); }

  void set_running(std::uint8_t plan) {
    if (!is_mine()) return;
    State state = State::unpack(slot_->state.load(std::memory_order_relaxed));
    state.plan = plan;
    state.state = CallState::running;
    slot_->state.store(state.pack(), std::memory_order_relaxed);
  }
  void set_waits_for(Rank rank) {
    if (!is_mine()) return;
    is_slow_ = true;
    Where where = Where::unpack(slot_->where.load(std::memory_order_relaxed));
    where.waits_for = static_cast<std::uint16_t>(rank + 1);
    slot_->where.store(where.pack(), std::memory_order_relaxed);
  }
  // A clock is not read at the end of a small call that never waited for long: that would take longer than all else.
  void end(CallState how, bool is_small) {
    if (!is_mine()) return;
    if (!is_small || is_slow_) slot_->finished.store(os::ticks(source_), std::memory_order_relaxed);
    const std::uint64_t state = slot_->state.load(std::memory_order_relaxed) & ~(std::uint64_t{0xff} << 56);
    slot_->state.store(state | static_cast<std::uint64_t>(how) << 56, std::memory_order_relaxed);
  }

 private:
  // False once so many calls came after this one that its place was needed.
  bool is_mine() const { return slot_ != nullptr && slot_->stamp.load(std::memory_order_relaxed) == stamp_; }

  CallSlot* slot_ = nullptr;
  std::uint64_t stamp_ = 0;
  os::TickSource source_ = os::TickSource::clock;
  bool is_slow_ = false;
};

class Recorder {
 public:
  // Never fails: where no memory can be shared, nobody can look in from outside.
  static std::unique_ptr<Recorder> create(const SideFacts& facts);
  Recorder(class Logbook& logbook, SidePage& page);
  Recorder(const Recorder&) = delete;
  ~Recorder();

  // Whoever has the turn of a track records its call. One that waits for its turn may do so before, if fewer than kRing
  // calls are in front of it, and gives its line again when it is served.
  Line begin(std::uint16_t track, const CallFacts& facts, CallState state, const Line& before = {}) {
    const bool is_collective = track == 0;
    std::uint32_t place = facts.turn;
    if (!is_collective) place = before ? before.place() : next_message_.fetch_add(1, std::memory_order_relaxed);
    CallSlot& slot = (is_collective ? page_.collectives : page_.messages)[place % kRing];
    const std::uint64_t stamp = CallSlot::kStamped | place;
    write(slot, stamp, {.number = facts.number, .track = track}, facts, state);
    return {slot, stamp, source_};
  }

  // The side has learned that its communicator has ended. The first time this may write a file: see dump.h.
  void end(Code code, std::string_view reason) noexcept;
  const SidePage& page() const { return page_; }

 private:
  void write(CallSlot& slot, std::uint64_t stamp, Where where, const CallFacts& facts, CallState state) const {
    // release: whoever sees one of these stores sees the stamp gone, and whoever sees the new stamp sees them all
    constexpr auto kRelease = std::memory_order_release;
    slot.stamp.store(0, std::memory_order_relaxed);
    slot.started.store(os::ticks(source_), kRelease);
    slot.finished.store(0, kRelease);
    slot.count.store(facts.key.count, kRelease);
    slot.what.store(facts.key.what, kRelease);
    slot.detail.store(facts.key.detail, kRelease);
    slot.where.store(where.pack(), kRelease);
    slot.state.store(State{.bytes = facts.bytes, .plan = facts.plan, .state = state}.pack(), kRelease);
    slot.stamp.store(stamp, kRelease);
  }

  class Logbook& logbook_;
  SidePage& page_;
  os::TickSource source_;
  std::atomic<std::uint32_t> next_message_ = 0;
  std::atomic<bool> has_ended_ = false;
};

// What a track needs to record its calls; without a recorder none are.
struct TrackLog {
  Recorder* recorder = nullptr;
  std::uint16_t track = 0;

  static std::uint16_t track_of(Rank other, bool is_sender) {
    return static_cast<std::uint16_t>(1 + 2 * other + (is_sender ? 1 : 0));
  }
};

}  // namespace tutti::comm::watch

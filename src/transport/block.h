// The piece of shared memory through which one rank of a communicator speaks to the others: who has entered which call,
// how far it is, what it has staged. One writer (the rank), many readers; only the bell is rung by others.
//
// Every word is a counter that only grows (modulo 2^32), so a reader that looks late misses nothing, and a wait is
// always "until this counter of that rank has reached this value".
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tutti/types.h"

namespace tutti::transport {

inline constexpr std::size_t kLine = 64;            // bytes that travel between cores together
inline constexpr std::uint32_t kLanesMax = 4;       // of plans that run between ranks of one machine
inline constexpr std::uint32_t kHistory = 16;       // calls that a rank can be asked about; more than it can be ahead
inline constexpr std::uint32_t kFlashDepth = 8;     // small calls that a rank can be ahead
inline constexpr std::uint32_t kFlashLines = 80;    // of one small call: 4 KiB and a little
inline constexpr std::size_t kFlashLineBytes = 56;  // of data, beside the tag
inline constexpr std::size_t kFlashBytesMax = kFlashLines * kFlashLineBytes;
inline constexpr std::size_t kReasonBytes = 1024;

using Counter = std::atomic<std::uint32_t>;

inline bool has_reached(std::uint32_t counter, std::uint32_t target) {
  return static_cast<std::int32_t>(counter - target) >= 0;
}

// What a rank says when it enters a call: the number of the call, a fingerprint of what it asks for, and facts about
// its buffers, in one word so that it is seen as a whole.
struct Tag {
  std::uint64_t word = 0;

  static constexpr std::uint32_t kFingerprintBits = 28;
  static constexpr std::uint32_t kReachesIn = 1;   // others can map the input
  static constexpr std::uint32_t kReachesOut = 2;  // others can map the output
  static constexpr std::uint32_t kInPlace = 4;

  static Tag of(std::uint32_t call, std::uint32_t fingerprint, std::uint32_t facts) {
    return {std::uint64_t{call} << 32 | std::uint64_t{fingerprint} << 4 | facts};
  }
  std::uint32_t call() const { return static_cast<std::uint32_t>(word >> 32); }
  std::uint32_t fingerprint() const { return static_cast<std::uint32_t>(word) >> 4; }
  std::uint32_t facts() const { return static_cast<std::uint32_t>(word) & 15; }
};

// First line. The messages sent in lane 0 follow in the same line, so that what a peer polls most arrives at once.
struct alignas(kLine) Head {
  std::atomic<std::uint64_t> tag;  // release: pairs with the acquire of whoever waits for the rank to enter
  std::atomic<std::uint64_t> in;   // where the buffers are: an offset in the heap of the process, or an address
  std::atomic<std::uint64_t> out;
  std::atomic<std::uint64_t> factor;  // of a scaled sum: the bits of a double
};
static_assert(sizeof(Head) == kLine);
inline constexpr std::size_t kSentAt = 32;

// What the rank asked for in one call, for whoever has to say how two calls differ.
struct Record {
  std::atomic<std::uint64_t> tag;
  std::atomic<std::uint64_t> count;
  std::atomic<std::uint64_t> what;    // packed by the communicator
  std::atomic<std::uint64_t> detail;  // likewise
};
static_assert(sizeof(Record) == kLine / 2);

struct alignas(kLine) Progress {
  Counter calls_done;
  std::array<Counter, kLanesMax> tiles_done;
};

// Written by others too, rarely: sleeping is looked at by whoever has news for the rank.
struct alignas(kLine) Bell {
  Counter sleeping;
  Counter rings;  // futex
  Counter ended;  // 0: alive, 1: a reason is being written, 2: it is there
  Counter ended_code;
};

struct alignas(kLine) FlashLine {
  std::byte data[kFlashLineBytes];
  std::atomic<std::uint64_t> tag;  // release: pairs with the acquire of readers; of this line alone
};
static_assert(sizeof(FlashLine) == kLine);

// Slots of pipes begin with one of these for every chunk of the value: its bytes.
using ChunkBytes = std::uint32_t;

// Where things are in a block; the same for every member of a channel.
struct BlockShape {
  Rank members = 0;
  std::size_t outbox_bytes = 0;  // for staged tiles and the slots of pipes
  bool has_flash = false;

  std::size_t counters_bytes() const { return round_up(sizeof(std::uint32_t) * static_cast<std::size_t>(members)); }
  std::size_t sent_at(std::uint32_t lane) const {
    return lane == 0 ? kSentAt : lanes_at() + (lane - 1) * 2 * counters_bytes();
  }
  std::size_t taken_at(std::uint32_t lane) const {
    return lane == 0 ? first_taken_at() : lanes_at() + (lane - 1) * 2 * counters_bytes() + counters_bytes();
  }
  std::size_t progress_at() const {
    return round_up(kSentAt + sizeof(std::uint32_t) * static_cast<std::size_t>(members));
  }
  std::size_t bell_at() const { return progress_at() + sizeof(Progress); }
  std::size_t history_at() const { return bell_at() + sizeof(Bell); }
  std::size_t first_taken_at() const { return history_at() + kHistory * sizeof(Record); }
  std::size_t lanes_at() const { return first_taken_at() + counters_bytes(); }
  std::size_t left_at() const { return lanes_at() + (kLanesMax - 1) * 2 * counters_bytes(); }
  std::size_t reason_at() const { return left_at() + counters_bytes(); }
  std::size_t flash_at() const { return reason_at() + kReasonBytes; }
  std::size_t outbox_at() const { return flash_at() + (has_flash ? kFlashDepth * kFlashLines * sizeof(FlashLine) : 0); }
  std::size_t bytes() const { return outbox_at() + round_up(outbox_bytes); }

 private:
  static std::size_t round_up(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }
};

// One member's block, as this process sees it. Memory that is all zero is a block that has done nothing. Places are
// worked out once: every message asks for them.
class Block {
 public:
  Block() = default;
  // The bell may be that of another block: a rank that takes part in several channels has one.
  Block(const BlockShape& shape, std::byte* memory, Bell* bell = nullptr)
      : memory_(memory),
        progress_(reinterpret_cast<Progress*>(memory + shape.progress_at())),
        bell_(bell != nullptr ? bell : reinterpret_cast<Bell*>(memory + shape.bell_at())),
        records_(reinterpret_cast<Record*>(memory + shape.history_at())),
        left_(reinterpret_cast<Counter*>(memory + shape.left_at())),
        reason_(reinterpret_cast<char*>(memory + shape.reason_at())),
        flash_(reinterpret_cast<FlashLine*>(memory + shape.flash_at())),
        outbox_(memory + shape.outbox_at()) {
    for (std::uint32_t lane = 0; lane < kLanesMax; ++lane) {
      sent_[lane] = reinterpret_cast<Counter*>(memory + shape.sent_at(lane));
      taken_[lane] = reinterpret_cast<Counter*>(memory + shape.taken_at(lane));
    }
  }

  std::byte* memory() const { return memory_; }
  Head& head() const { return *reinterpret_cast<Head*>(memory_); }
  Progress& progress() const { return *progress_; }
  Bell& bell() const { return *bell_; }
  std::byte* outbox() const { return outbox_; }
  Counter& sent(std::uint32_t lane, Rank to) const { return sent_[lane][to]; }
  Counter& taken(std::uint32_t lane, Rank from) const { return taken_[lane][from]; }
  // Set by another rank when it has destroyed its side: nothing of it comes any more, and it reads nothing here.
  Counter& left(Rank other) const { return left_[other]; }
  Record& record(std::uint32_t call) const { return records_[call % kHistory]; }
  FlashLine* flash(std::uint32_t call) const { return flash_ + call % kFlashDepth * kFlashLines; }
  char* reason() const { return reason_; }

 private:
  std::byte* memory_ = nullptr;
  Progress* progress_ = nullptr;
  Bell* bell_ = nullptr;
  Record* records_ = nullptr;
  Counter* left_ = nullptr;
  char* reason_ = nullptr;
  FlashLine* flash_ = nullptr;
  std::byte* outbox_ = nullptr;
  std::array<Counter*, kLanesMax> sent_ = {};
  std::array<Counter*, kLanesMax> taken_ = {};
};

}  // namespace tutti::transport

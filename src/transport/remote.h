// A member on another host, as a channel sees it: its words, mirrored here as they come, and the values that it sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "transport/block.h"
#include "transport/frame.h"
#include "tutti/status.h"

namespace tutti::transport {

// Values of a lane that a rank may send before the first of them was taken.
inline constexpr std::uint32_t kInboxValues = 4;

// A stretch of memory that values are read from or put into.
struct Stretch {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

class Remote {
 public:
  // `self`: this rank's place among the members. `own_bell`: rung when something has come while somebody sleeps.
  Remote(Rank members, Rank self, std::size_t value_bytes_max, Bell* own_bell);
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;

  // The mirror: what a channel reads of every member, whether it shares memory with it or not.
  const Block& block() const { return block_; }

  // A value that has_message() has told of; valid until it is counted as taken.
  struct Value {
    std::span<const ChunkBytes> sizes;
    const std::byte* data = nullptr;  // all chunks, one after the other
    bool has_landed = false;          // it is where expect() said instead
  };
  Value value(std::uint32_t lane, std::uint32_t ordinal) const;
  std::uint64_t value_bytes(std::uint32_t lane, std::uint32_t ordinal) const {
    return lanes_[lane].slots[ordinal % kInboxValues].bytes;
  }

  // Data of that value goes straight there, unless it has begun to come. The value must be as long as the places;
  // in a single one it may be shorter.
  void expect(std::uint32_t lane, std::uint32_t ordinal, std::span<const Stretch> places);
  // Nothing is put into memory of the caller any more once this has returned.
  void expect_nothing();
  // The next value of that lane was taken: its place is free for another.
  void count_taken(std::uint32_t lane) { lanes_[lane].taken.fetch_add(1, std::memory_order_release); }

  // Values that this rank has taken of the other's, and the other of this one's.
  std::uint32_t taken_here(std::uint32_t lane) const { return lanes_[lane].taken.load(std::memory_order_acquire); }
  std::uint32_t taken_by_other(std::uint32_t lane) const {
    return block_.taken(lane, self_).load(std::memory_order_acquire);
  }

  std::size_t bytes() const;

  // What follows is for whoever reads frames, under lock(). Nothing in a frame is trusted.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  // The frame makes sense for a member like this; what it says may still come out of turn.
  Status validate(const FrameHeader& header) const;
  void announce(const Announcement& announcement);
  void set_taken(const FrameHeader& header);
  Status add_token(const FrameHeader& header);
  // A part of a value: begin, the sizes if it has any, its data at places that place_of() says, end. False: everything
  // in it has come before, so it is only to be read over.
  Result<bool> begin_part(const FrameHeader& header);
  std::span<std::byte> sizes_of(const FrameHeader& header);
  // Where its data goes from its byte `done` on: as much as lies in one stretch.
  Stretch place_of(const FrameHeader& header, std::uint64_t done);
  Status end_part(const FrameHeader& header);
  // Messages of a lane that have come, without a gap.
  std::uint32_t received(std::uint32_t lane) const { return lanes_[lane].received; }

 private:
  struct Slot {
    std::uint32_t ordinal = ~std::uint32_t{0};
    bool has_landed = false;  // its data is where it was expected
    std::uint64_t bytes = 0;
    std::uint64_t arrived = 0;
    std::vector<ChunkBytes> sizes;
    std::vector<std::byte> data;
    std::vector<std::uint64_t> parts;  // that have come: where they begin
  };
  struct Expected {
    bool is_set = false;
    std::uint32_t ordinal = 0;
    std::uint64_t bytes = 0;
    std::vector<Stretch> places;
  };
  struct Lane {
    Counter taken = 0;
    std::uint32_t received = 0;
    std::vector<std::uint32_t> beyond;  // messages that have come before others did
    std::array<Slot, kInboxValues> slots;
    Expected expected;
  };

  Slot& slot_of(const FrameHeader& header) { return lanes_[header.lane].slots[header.ordinal % kInboxValues]; }
  Status complete(std::uint32_t lane, std::uint32_t number);
  void ring() const;

  Rank self_;
  std::size_t value_bytes_max_;
  Bell* own_bell_;
  std::vector<std::uint64_t> memory_;
  Block block_;
  // A mutex because whoever waits on any channel of the rank reads for all of them.
  mutable std::mutex mutex_;
  std::array<Lane, kLanesMax> lanes_;
};

}  // namespace tutti::transport

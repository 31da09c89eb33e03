// Runs a launch on a channel, step by step, without ever blocking: progress() goes as far as the other ranks allow.
#pragma once

#include <array>
#include <span>

#include "engine/host/launch.h"
#include "engine/host/workspace.h"
#include "transport/channel.h"
#include "tutti/call.h"

namespace tutti::engine {

// Owned by whoever owns the channel for this call. The rank has entered the call already.
class Run {
 public:
  Run(transport::Channel& channel, Workspace& workspace, const Launch& launch, const CustomOperation* custom);

  // True when there is nothing left to do: the end, or a failure that status() tells.
  bool progress();
  Status status() const { return status_; }
  // The members that have to do something first, after progress() returned false: for each lane one, or kNoRank.
  std::span<const Rank> blocked_on() const { return blocked_on_; }
  std::uint64_t steps_done() const { return steps_done_; }

 private:
  bool progress_lane(std::uint32_t lane);
  bool is_ready(std::uint32_t lane, std::uint32_t step);
  bool is_outbox_free(std::uint32_t lane, const LaunchStep& step);
  bool has_met(Rank member);
  void expect(std::uint32_t lane, const LaunchStep& step, Rank from);
  void execute(std::uint32_t lane, std::uint32_t step);
  // A value on its way through a step: where it comes from, and where it is put to be sent.
  struct Passage {
    const transport::ChunkBytes* received_sizes = nullptr;
    std::uint32_t received_chunks = 0;
    const std::byte* received = nullptr;  // nullptr: nothing, or it has landed
    bool has_landed = false;
    bool is_received_narrow = false;  // in the wire type
    bool is_sent_narrow = false;
    transport::ChunkBytes* sent_sizes = nullptr;
    std::byte* sent = nullptr;
    bool is_sent_from_place = false;
  };
  Passage open_passage(std::uint32_t lane, const LaunchStep& step, Rank from);
  Status move_value(std::uint32_t lane, const LaunchStep& step, Passage passage);
  void send_over_wire(std::uint32_t lane, const LaunchStep& step, const Passage& passage);
  std::uint64_t room_for(std::uint32_t lane, const LaunchStep& step, std::uint32_t chunk) const;
  std::byte* place_of(std::uint32_t lane, const LaunchStep& step, std::uint32_t chunk, std::uint32_t piece);
  Status compute_chunk(std::uint32_t lane, const LaunchStep& step, std::uint32_t chunk, std::uint64_t bytes,
                       const Passage& passage);
  // As many elements in the wire type.
  std::uint64_t narrow_bytes(std::uint64_t bytes) const {
    return bytes / launch_.elements.bytes * size_of(*launch_.elements.wire_type);
  }
  std::uint64_t wide_bytes(std::uint64_t bytes) const {
    return bytes / size_of(*launch_.elements.wire_type) * launch_.elements.bytes;
  }
  std::uint32_t chunks_of(const LaunchStep& step) const;
  std::uint64_t bytes_of(std::uint32_t lane, const LaunchStep& step, std::uint32_t chunk) const;
  std::byte* locate(std::uint32_t lane, const Piece& piece, std::uint64_t skip, int* pid);
  bool wait_for(Rank member) {
    waits_for_ = member;
    return false;
  }

  transport::Channel& channel_;
  Workspace& workspace_;
  const Launch& launch_;
  const CustomOperation* custom_;
  bool is_in_place_;
  std::array<std::uint32_t, transport::kLanesMax> expected_ = {};  // by lane: the value that was asked for, from 1
  Rank waits_for_ = kNoRank;                                       // the lane that is at work
  std::array<Rank, transport::kLanesMax> blocked_on_;
  std::uint64_t steps_done_ = 0;
  Status status_;
};

}  // namespace tutti::engine

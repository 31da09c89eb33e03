// The private memory of runs on one channel: kept from call to call, so that a call allocates nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/host/launch.h"
#include "transport/remote.h"

namespace tutti::engine {

class Workspace {
 public:
  // Makes room for a launch; called when the launch is made, not when it runs. `flash_ranks`: whose lines a flash takes
  // that carries it; 0: none does.
  void reserve(const Launch& launch, Rank flash_ranks);
  // How large it is with room for a launch as well.
  std::size_t bytes_with(const Launch& launch, Rank flash_ranks) const;

  struct Cursor {
    std::uint32_t tile = 0;
    std::uint32_t step = 0;
  };
  std::vector<Cursor> cursors = std::vector<Cursor>(transport::kLanesMax);

  // Of the step at work; as long as its longest list can be.
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> targets;
  std::vector<double> factors;
  std::vector<int> source_owners;  // processes, where the kernel has to copy
  std::vector<int> target_owners;
  std::vector<transport::Stretch> stretches;
  // Of the piece of it that is at work where the kernel copies.
  std::vector<const std::byte*> piece_sources;
  std::vector<std::byte*> piece_targets;

  std::byte* scratch(std::uint32_t lane, std::uint64_t chunk, const Launch& launch) {
    return scratch_.data() + lane * launch.scratch_bytes + chunk * launch.outbox.tile_bytes;
  }
  // How much of a scratch chunk is filled.
  std::uint64_t& scratch_size(std::uint32_t lane, std::uint64_t chunk, const Launch& launch) {
    return scratch_sizes_[lane * launch.prepared->scratch_chunks + chunk];
  }

  // Where pulled sources, results for others and custom operations have a piece of a value. Small enough to stay in the
  // second cache.
  static constexpr std::size_t kBounceBytes = 64 << 10;
  std::byte* bounce(std::size_t index) { return bounce_.data() + index * kBounceBytes; }
  bool has_bounces(std::size_t count) const { return bounce_.size() >= count * kBounceBytes; }
  void reserve_bounces(std::size_t count) {
    if (has_bounces(count)) return;
    bounce_.reserve(count * kBounceBytes);
    bounce_.resize(count * kBounceBytes);
  }

  // What this rank stages, and what it took from each rank, when lines of a flash carry it.
  std::byte* flash(std::size_t index) { return flash_.data() + index * kFlashBytes; }
  static constexpr std::size_t kFlashBytes = transport::kFlashBytesMax + transport::kLine;

  std::size_t bytes() const;

 private:
  struct Needs {
    std::size_t longest = 0;  // list of a step
    std::size_t scratch_bytes = 0;
    std::size_t scratch_chunks = 0;
    std::size_t bounces = 0;
    std::size_t flash_bytes = 0;
  };
  static Needs needs_of(const Launch& launch, Rank flash_ranks);

  std::vector<std::byte> scratch_;
  std::vector<std::uint64_t> scratch_sizes_;
  std::vector<std::byte> bounce_;
  std::vector<std::byte> flash_;
};

}  // namespace tutti::engine

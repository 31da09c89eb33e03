// What algorithms are written against: a group of ranks that acts as if it were alone, and the blocks of data it moves.
#pragma once

#include <span>
#include <vector>

#include "tutti/plan.h"

namespace tutti::plan {

// One lane of one rank in a group of ranks. Members are numbered 0 to n - 1 and the data of the lane is divided into
// blocks 0, 1, 2 ...; how these become ranks and chunks is decided here, so that an algorithm is written once and runs
// flat, in any of several lanes, along another ring, or between hosts.
struct View {
  std::span<const Rank> members;
  Rank me = 0;    // position of this rank among the members
  Rank root = 0;  // position of the root, where there is one

  std::uint32_t lane = 0;
  std::uint32_t lanes = 1;
  std::uint32_t first_block = 0;
  std::span<const std::uint32_t> block_of = {};   // block i is block_of[i] of the lane; empty: first_block + i
  static constexpr std::uint32_t kNoBlock = ~0u;  // in block_of: a block without data

  Buffer source = Buffer::in;
  Buffer target = Buffer::out;
  std::span<const Rank> contributors = {};  // whose source a load adds up; empty: this rank's
  std::span<const Rank> mirrors = {};       // whose target a delivery goes to; empty: this rank's
  bool through_stages = false;  // what is another's is in its stage: it has put it there or fetches it there
  bool publishes = false;       // a delivery also goes to this rank's stage, for others to fetch

  Rank n() const { return static_cast<Rank>(members.size()); }
  Rank self() const { return members[static_cast<std::size_t>(me)]; }
  Rank rank(Rank position) const { return members[static_cast<std::size_t>(wrap(position))]; }
  Rank wrap(Rank position) const { return ((position % n()) + n()) % n(); }
  Rank next() const { return rank(me + 1); }
  Rank previous() const { return rank(me - 1); }

  // `count` blocks of a buffer of one rank; ranges of blocks only where block_of is empty.
  Slice slice(Buffer buffer, Rank owner, Rank block, Rank count = 1) const;
  Slice own(Buffer buffer, Rank block, Rank count = 1) const { return slice(buffer, self(), block, count); }

  // Where a contributor's source or a mirror's target is to be found.
  Slice of(Rank owner, Buffer buffer, Rank block, Rank count) const {
    return slice(through_stages && owner != self() ? Buffer::stage : buffer, owner, block, count);
  }

  // Adds the contributions of this rank (or those it stands for) to the value.
  StepWriter& load(StepWriter& step, Rank block, Rank count = 1) const;
  // Stores the value where it belongs in the end.
  StepWriter& deliver(StepWriter& step, Rank block, Rank count = 1) const;
};

// How many ranks of a host speak to other hosts: as many as the smallest host has, or one.
enum class Rails : std::uint8_t { all, one };

// What all ranks of a plan have in common; made once per plan.
class Setting {
 public:
  Setting(const Shape& shape, std::uint32_t blocks, Rails rails = Rails::all);

  const Shape& shape() const { return shape_; }
  std::uint32_t blocks() const { return blocks_; }
  std::span<const Rank> everyone() const { return everyone_; }

  // The flat view: all ranks, in the order of the lane's ring.
  View view(Rank me, std::uint32_t lane) const;

  // Hosts in the order of their first ranks, and the members of each.
  std::uint32_t host_count() const { return static_cast<std::uint32_t>(hosts_.size()); }
  std::uint32_t host_of(Rank rank) const { return host_of_[static_cast<std::size_t>(rank)]; }
  std::uint32_t local_of(Rank rank) const { return local_of_[static_cast<std::size_t>(rank)]; }
  std::span<const Rank> host(std::uint32_t index) const { return hosts_[index]; }
  // Rail q joins the q-th rank of every host. Where there is one rail only, a root comes first on its host.
  std::uint32_t rail_count() const { return static_cast<std::uint32_t>(rails_.size()); }
  std::span<const Rank> rail(std::uint32_t index) const { return rails_[index]; }

  // Where blocks belong to ranks, rail q carries those of the ranks q, q + rails, q + 2 * rails ... of every host, one
  // layer after the other: the block of each host, or kNoBlock where the host has no rank in the layer.
  std::uint32_t layer_count(std::uint32_t rail) const { return static_cast<std::uint32_t>(layers_[rail].size()); }
  std::span<const std::uint32_t> layer(std::uint32_t rail, std::uint32_t index) const { return layers_[rail][index]; }

 private:
  void number_orders();
  void find_hosts();
  void put_root_first();
  void find_rails(Rails rails);

  const Shape& shape_;
  std::uint32_t blocks_;
  std::vector<Rank> everyone_;
  std::vector<std::vector<Rank>> positions_;           // per order: position of each rank
  std::vector<std::vector<std::uint32_t>> blocks_of_;  // per order: the block of each position
  std::vector<std::uint32_t> host_of_;
  std::vector<std::uint32_t> local_of_;
  std::vector<std::vector<Rank>> hosts_;
  std::vector<std::vector<Rank>> rails_;
  std::vector<std::vector<std::vector<std::uint32_t>>> layers_;  // per rail, per layer, per host
};

// The members tell each other, by tokens, that they have come this far. Groups up to this size do it all to all, in
// one round; larger ones in a logarithmic number of rounds.
inline constexpr Rank kMeetAllPairsMax = 8;
void meet(Lane& lane, std::span<const Rank> members, Rank me);

// The members but this one.
std::vector<Rank> others(std::span<const Rank> members, Rank me);

}  // namespace tutti::plan

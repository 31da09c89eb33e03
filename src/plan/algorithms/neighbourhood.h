// One lane of one rank among the ranks of its host: whom it tells, what it publishes for them and fetches from them.
#pragma once

#include "plan/algorithms/place.h"

namespace tutti::plan {

class Neighbourhood {
 public:
  // `blocks`: those of each rail, where blocks do not belong to ranks.
  Neighbourhood(const Setting& setting, Rank me, std::uint32_t lane, std::uint32_t blocks)
      : setting_(setting), place_(setting, me), flat_(setting.view(me, lane)), lane_(lane), blocks_(blocks) {}

  // Neighbours' buffers cannot be reached, but their stages can.
  bool is_staged() const { return setting_.shape().reach != Reach::full; }

  Rank me() const { return flat_.self(); }
  std::span<const Rank> neighbours() const { return place_.neighbours; }
  std::span<const Rank> rail_ranks() const { return place_.neighbours.first(static_cast<std::size_t>(place_.rails)); }
  std::span<const Rank> ranks_without_rail() const {
    return place_.neighbours.subspan(static_cast<std::size_t>(place_.rails));
  }
  bool has(Rank rank) const { return setting_.host_of(rank) == place_.host; }
  bool is_me_in(std::span<const Rank> ranks) const;
  bool has_rail() const { return place_.has_rail(); }
  std::uint32_t rail() const { return place_.rail(); }
  View rail_view() const;

  // Everyone in `from` says to everyone in `to` that it has come this far.
  void tell(Lane& lane, std::span<const Rank> from, std::span<const Rank> to) const;

  // Blocks of rails: those of all, and the rows before and after those of this rank's rail.
  Rank block_count() const { return place_.rails * static_cast<Rank>(blocks_); }
  template <class Each>
  void for_rows_of_others(Each each) const {
    const Rank all = block_count();
    const Rank before = has_rail() ? place_.local * static_cast<Rank>(blocks_) : all;
    const Rank after = has_rail() ? all - before - static_cast<Rank>(blocks_) : 0;
    if (before > 0) each(0, before);
    if (after > 0) each(all - after, after);
  }

  // Copies blocks from this rank's input to its stage, from the stage of a neighbour to its output, and past stages.
  void publish(Lane& lane, Rank block, Rank count) const;
  void fetch(Lane& lane, Rank owner, Rank block, Rank count) const;
  void copy_own(Lane& lane, Rank block) const;

 private:
  const Setting& setting_;
  Place place_;
  View flat_;
  std::uint32_t lane_;
  std::uint32_t blocks_;
};

}  // namespace tutti::plan

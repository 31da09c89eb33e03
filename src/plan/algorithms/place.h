// Where a rank stands in a hierarchy of hosts, for the algorithms that work inside hosts and between them.
#pragma once

#include "plan/algorithms/setting.h"

namespace tutti::plan {

struct Place {
  std::uint32_t host;
  Rank local;                        // position among the neighbours
  std::span<const Rank> neighbours;  // the ranks of its host, itself among them
  Rank rails;

  Place(const Setting& setting, Rank me)
      : host(setting.host_of(me)),
        local(static_cast<Rank>(setting.local_of(me))),
        neighbours(setting.host(host)),
        rails(static_cast<Rank>(setting.rail_count())) {}

  Rank size() const { return static_cast<Rank>(neighbours.size()); }
  Rank rank(Rank position) const { return neighbours[static_cast<std::size_t>(position)]; }
  // The first ranks of a host serve a rail each.
  bool has_rail(Rank position) const { return position < rails; }
  bool has_rail() const { return has_rail(local); }
  std::uint32_t rail() const { return static_cast<std::uint32_t>(local); }

  void meet(Lane& lane) const { plan::meet(lane, neighbours, local); }
};

// The rail that this rank serves: members are hosts, and of a lane's blocks it has `blocks` of its own.
inline View rail_view(const Setting& setting, const Place& place, std::uint32_t lane, std::uint32_t blocks) {
  View view;
  view.members = setting.rail(place.rail());
  view.me = static_cast<Rank>(place.host);
  view.root = static_cast<Rank>(setting.host_of(setting.shape().root));
  view.lane = lane;
  view.lanes = setting.shape().lanes;
  view.first_block = place.rail() * blocks;
  return view;
}

}  // namespace tutti::plan

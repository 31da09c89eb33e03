#include "plan/algorithms/hierarchical.h"

#include "plan/algorithms/chain.h"
#include "plan/algorithms/halving.h"
#include "plan/algorithms/place.h"
#include "plan/algorithms/ring.h"
#include "plan/algorithms/tree.h"

namespace tutti::plan::hierarchical {

std::uint32_t outer_blocks(Outer outer, std::uint32_t host_count) {
  switch (outer) {
    case Outer::ring: return host_count;
    case Outer::halving: return halving::participants(static_cast<Rank>(host_count));
    case Outer::tree: return 1;
  }
  return 1;
}

namespace {

// Runs `work` on the rail between two meetings of the host, so that no neighbour's memory is touched before it has
// come or after it may have gone.
template <class Work>
void on_rails(const Setting& setting, Rank me, Program& program, Work work) {
  const Place place(setting, me);
  for (std::uint32_t lane = 0; lane < setting.shape().lanes; ++lane) {
    Lane& steps = program.lanes.emplace_back();
    place.meet(steps);
    if (place.has_rail()) work(steps, place, lane);
    place.meet(steps);
  }
}

void all_reduce_by_tree(const Setting& setting, Rank me, Program& program) {
  const Place place(setting, me);
  tree::for_lane_pairs(setting.shape().lanes, program, [&](std::uint32_t lane, tree::Lanes lanes) {
    place.meet(lanes.up);
    if (place.has_rail()) {
      View v = rail_view(setting, place, lane, 1);
      v.root = 0;
      v.contributors = v.mirrors = place.neighbours;
      tree::all_reduce(lanes, v);
    }
    place.meet(lanes.down);
  });
}

}  // namespace

void all_reduce(const Setting& setting, Rank me, Program& program, Outer outer) {
  if (outer == Outer::tree) return all_reduce_by_tree(setting, me, program);
  on_rails(setting, me, program, [&](Lane& steps, const Place& place, std::uint32_t lane) {
    View v = rail_view(setting, place, lane, outer_blocks(outer, setting.host_count()));
    v.contributors = v.mirrors = place.neighbours;
    outer == Outer::ring ? ring::all_reduce(steps, v) : halving::all_reduce(steps, v);
  });
}

void broadcast(const Setting& setting, Rank me, Program& program, Outer outer) {
  on_rails(setting, me, program, [&](Lane& steps, const Place& place, std::uint32_t lane) {
    View v = rail_view(setting, place, lane, 1);
    v.contributors = {&setting.shape().root, 1};  // loaded on the root's host alone
    v.mirrors = place.neighbours;
    outer == Outer::ring ? chain::broadcast(steps, v) : tree::broadcast(steps, v);
  });
}

void reduce(const Setting& setting, Rank me, Program& program, Outer outer) {
  on_rails(setting, me, program, [&](Lane& steps, const Place& place, std::uint32_t lane) {
    View v = rail_view(setting, place, lane, 1);
    v.contributors = place.neighbours;
    v.mirrors = {&setting.shape().root, 1};  // stored on the root's host alone
    outer == Outer::ring ? chain::reduce(steps, v) : tree::reduce(steps, v);
  });
}

namespace {

// The neighbour whose block this rail carries in a layer; nobody where the host has no rank there.
std::span<const Rank> owner_in(const Setting& setting, const Place& place, std::uint32_t layer) {
  const std::size_t local = place.rail() + std::size_t{layer} * setting.rail_count();
  return local < place.neighbours.size() ? place.neighbours.subspan(local, 1) : std::span<const Rank>();
}

}  // namespace

void all_gather(const Setting& setting, Rank me, Program& program) {
  on_rails(setting, me, program, [&](Lane& steps, const Place& place, std::uint32_t lane) {
    for (std::uint32_t layer = 0; layer < setting.layer_count(place.rail()); ++layer) {
      View v = rail_view(setting, place, lane, 0);
      v.block_of = setting.layer(place.rail(), layer);
      v.contributors = owner_in(setting, place, layer);
      v.mirrors = place.neighbours;
      ring::all_gather(steps, v);
    }
  });
}

void reduce_scatter(const Setting& setting, Rank me, Program& program) {
  on_rails(setting, me, program, [&](Lane& steps, const Place& place, std::uint32_t lane) {
    for (std::uint32_t layer = 0; layer < setting.layer_count(place.rail()); ++layer) {
      View v = rail_view(setting, place, lane, 0);
      v.block_of = setting.layer(place.rail(), layer);
      v.contributors = place.neighbours;
      v.mirrors = owner_in(setting, place, layer);
      ring::reduce_scatter(steps, v);
    }
  });
}

// Only tokens, so it needs no reach: the first rank of a host collects its neighbours, meets the other hosts' first
// ranks, and lets the neighbours go.
void barrier(const Setting& setting, Rank me, Program& program) {
  const Place place(setting, me);
  Lane& lane = program.lanes.emplace_back();
  const Rank leader = place.neighbours[0];
  if (me != leader) {
    lane.step().signal(leader);
    lane.step().wait(leader);
    return;
  }
  const auto rest = others(place.neighbours, me);
  if (!rest.empty()) lane.step().wait(rest);
  meet(lane, setting.rail(0), static_cast<Rank>(place.host));
  if (!rest.empty()) lane.step().signal(rest);
}

}  // namespace tutti::plan::hierarchical

#include "plan/algorithms/hierarchical.h"

#include "plan/algorithms/chain.h"
#include "plan/algorithms/halving.h"
#include "plan/algorithms/neighbourhood.h"
#include "plan/algorithms/pairwise.h"
#include "plan/algorithms/ring.h"
#include "plan/algorithms/star.h"
#include "plan/algorithms/tree.h"

namespace tutti::plan::hierarchical {

std::uint32_t outer_blocks(Outer outer, std::uint32_t host_count) {
  switch (outer) {
    case Outer::ring: return host_count;
    case Outer::halving: return halving::participants(static_cast<Rank>(host_count));
    case Outer::tree:
    case Outer::pairwise: return 1;
  }
  return 1;
}

namespace {

template <class Each>
void for_lanes(const Setting& setting, Program& program, Each each) {
  for (std::uint32_t lane = 0; lane < setting.shape().lanes; ++lane) each(program.lanes.emplace_back(), lane);
}

// Every neighbour's input is there for the rails; sums come back the way the inputs went.
void open_for_sums(Lane& steps, const Neighbourhood& hood) {
  if (hood.is_staged()) hood.for_rows_of_others([&](Rank first, Rank count) { hood.publish(steps, first, count); });
  hood.tell(steps, hood.neighbours(), hood.rail_ranks());
}

void close_with_sums(Lane& steps, const Neighbourhood& hood, std::span<const Rank> receivers) {
  hood.tell(steps, hood.rail_ranks(), hood.is_staged() ? receivers : hood.neighbours());
  if (!hood.is_staged() || !hood.is_me_in(receivers)) return;
  hood.for_rows_of_others([&](Rank first, Rank count) { hood.fetch(steps, hood.me(), first, count); });
}

void all_reduce_by_tree(const Setting& setting, Rank me, Program& program) {
  tree::for_lane_pairs(setting.shape().lanes, program, [&](std::uint32_t lane, tree::Lanes lanes) {
    const Neighbourhood hood(setting, me, lane, 1);
    open_for_sums(lanes.up, hood);
    if (hood.has_rail()) {
      View v = hood.rail_view();
      v.root = 0;
      v.contributors = v.mirrors = hood.neighbours();
      tree::all_reduce(lanes, v);
    }
    close_with_sums(lanes.down, hood, hood.neighbours());
  });
}

void all_reduce_along(Lane& steps, const View& v, Outer outer) {
  switch (outer) {
    case Outer::ring: return ring::all_reduce(steps, v);
    case Outer::halving: return halving::all_reduce(steps, v);
    case Outer::pairwise: return pairwise::all_reduce(steps, v);
    case Outer::tree: return;  // takes two lanes
  }
}

}  // namespace

void all_reduce(const Setting& setting, Rank me, Program& program, Outer outer) {
  if (outer == Outer::tree) return all_reduce_by_tree(setting, me, program);
  for_lanes(setting, program, [&](Lane& steps, std::uint32_t lane) {
    const Neighbourhood hood(setting, me, lane, outer_blocks(outer, setting.host_count()));
    open_for_sums(steps, hood);
    if (hood.has_rail()) {
      View v = hood.rail_view();
      v.contributors = v.mirrors = hood.neighbours();
      all_reduce_along(steps, v, outer);
    }
    close_with_sums(steps, hood, hood.neighbours());
  });
}

namespace {

void broadcast_along(Lane& steps, const View& v, Outer outer) {
  if (outer == Outer::ring) return chain::broadcast(steps, v);
  outer == Outer::pairwise ? star::broadcast(steps, v) : tree::broadcast(steps, v);
}

void reduce_along(Lane& steps, const View& v, Outer outer) {
  if (outer == Outer::ring) return chain::reduce(steps, v);
  outer == Outer::pairwise ? star::reduce(steps, v) : tree::reduce(steps, v);
}

// The root's neighbours fetch from the root's stage; on other hosts the ranks of rails publish what arrives.
void broadcast_staged(Lane& steps, const Neighbourhood& hood, std::span<const Rank> root, Outer outer) {
  const bool is_roots_host = hood.has(root[0]);
  if (is_roots_host) {
    if (hood.me() == root[0] && hood.neighbours().size() > 1) hood.publish(steps, 0, hood.block_count());
    hood.tell(steps, root, hood.neighbours());
  }
  if (hood.has_rail()) {
    View v = hood.rail_view();
    v.contributors = root;
    v.publishes = !is_roots_host && hood.neighbours().size() > 1;
    broadcast_along(steps, v, outer);
  }
  if (!is_roots_host) hood.tell(steps, hood.rail_ranks(), hood.neighbours());
  for (std::size_t rail = 0; rail < hood.rail_ranks().size(); ++rail) {
    const Rank carrier = hood.rail_ranks()[rail];
    if (carrier == hood.me()) continue;
    hood.fetch(steps, is_roots_host ? root[0] : carrier, static_cast<Rank>(rail), 1);
  }
}

}  // namespace

void broadcast(const Setting& setting, Rank me, Program& program, Outer outer) {
  const std::span<const Rank> root(&setting.shape().root, 1);
  for_lanes(setting, program, [&](Lane& steps, std::uint32_t lane) {
    const Neighbourhood hood(setting, me, lane, 1);
    if (hood.is_staged()) return broadcast_staged(steps, hood, root, outer);
    hood.tell(steps, hood.neighbours(), hood.rail_ranks());
    if (hood.has_rail()) {
      View v = hood.rail_view();
      v.contributors = root;  // loaded on the root's host alone
      v.mirrors = hood.neighbours();
      broadcast_along(steps, v, outer);
    }
    hood.tell(steps, hood.rail_ranks(), hood.neighbours());
  });
}

void reduce(const Setting& setting, Rank me, Program& program, Outer outer) {
  const std::span<const Rank> root(&setting.shape().root, 1);
  for_lanes(setting, program, [&](Lane& steps, std::uint32_t lane) {
    const Neighbourhood hood(setting, me, lane, 1);
    open_for_sums(steps, hood);
    if (hood.has_rail()) {
      View v = hood.rail_view();
      v.contributors = hood.neighbours();
      v.mirrors = root;  // stored on the root's host alone
      reduce_along(steps, v, outer);
    }
    close_with_sums(steps, hood, hood.has(root[0]) ? root : std::span<const Rank>());
  });
}

namespace {

// The rail that this rank serves, in one layer.
View layer_view(const Setting& setting, const Neighbourhood& hood, std::uint32_t layer) {
  View v = hood.rail_view();
  v.block_of = setting.layer(hood.rail(), layer);
  return v;
}

// The neighbour whose block a rail carries in a layer; nobody where the host has no rank there.
std::span<const Rank> owner_in(const Neighbourhood& hood, std::uint32_t layer) {
  const std::size_t local = hood.rail() + std::size_t{layer} * hood.rail_ranks().size();
  return local < hood.neighbours().size() ? hood.neighbours().subspan(local, 1) : std::span<const Rank>();
}

// Calls each(carrier, block) for every block that another rank of this host carries.
template <class Each>
void for_blocks_of_others(const Setting& setting, const Neighbourhood& hood, Each each) {
  for (std::uint32_t rail = 0; rail < setting.rail_count(); ++rail) {
    if (hood.rail_ranks()[rail] == hood.me()) continue;
    for (std::uint32_t layer = 0; layer < setting.layer_count(rail); ++layer) {
      for (const std::uint32_t block : setting.layer(rail, layer)) {
        if (block != View::kNoBlock) each(hood.rail_ranks()[rail], static_cast<Rank>(block));
      }
    }
  }
}

}  // namespace

// In the staged form a rank without a rail publishes its block, the ranks of rails publish what they carry, and each
// rank fetches what it has not.
void all_gather(const Setting& setting, Rank me, Program& program) {
  for_lanes(setting, program, [&](Lane& steps, std::uint32_t lane) {
    const Neighbourhood hood(setting, me, lane, 0);
    const bool publishes = hood.is_staged() && !hood.has_rail();
    if (publishes) {
      hood.publish(steps, me, 1);
      hood.copy_own(steps, me);
    }
    hood.tell(steps, hood.is_staged() ? hood.ranks_without_rail() : hood.neighbours(), hood.rail_ranks());
    for (std::uint32_t layer = 0; hood.has_rail() && layer < setting.layer_count(hood.rail()); ++layer) {
      View v = layer_view(setting, hood, layer);
      v.contributors = owner_in(hood, layer);
      v.publishes = hood.is_staged() && hood.neighbours().size() > 1;
      if (!hood.is_staged()) v.mirrors = hood.neighbours();
      ring::all_gather(steps, v);
    }
    hood.tell(steps, hood.rail_ranks(), hood.neighbours());
    if (!hood.is_staged()) return;
    for_blocks_of_others(setting, hood, [&](Rank carrier, Rank block) {
      if (block != me) hood.fetch(steps, carrier, block, 1);
    });
  });
}

// In the staged form a rank publishes what other rails carry; where it has no rail its sum comes back to its stage.
void reduce_scatter(const Setting& setting, Rank me, Program& program) {
  for_lanes(setting, program, [&](Lane& steps, std::uint32_t lane) {
    const Neighbourhood hood(setting, me, lane, 0);
    if (hood.is_staged()) {
      for_blocks_of_others(setting, hood, [&](Rank, Rank block) { hood.publish(steps, block, 1); });
    }
    hood.tell(steps, hood.neighbours(), hood.rail_ranks());
    for (std::uint32_t layer = 0; hood.has_rail() && layer < setting.layer_count(hood.rail()); ++layer) {
      View v = layer_view(setting, hood, layer);
      v.contributors = hood.neighbours();
      v.mirrors = owner_in(hood, layer);
      ring::reduce_scatter(steps, v);
    }
    hood.tell(steps, hood.rail_ranks(), hood.is_staged() ? hood.ranks_without_rail() : hood.neighbours());
    if (hood.is_staged() && !hood.has_rail()) hood.fetch(steps, me, me, 1);
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

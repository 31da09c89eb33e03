#include "plan/algorithms/hierarchical_pipes.h"

#include <algorithm>

#include "plan/algorithms/chain.h"
#include "plan/algorithms/halving.h"
#include "plan/algorithms/place.h"
#include "plan/algorithms/ring.h"
#include "plan/algorithms/tree.h"

namespace tutti::plan::hierarchical_pipes {

namespace {

// Visits the neighbours in rounds in which positions add up to the round's number, so that both ends meet.
template <class Each>
void for_neighbours(const Place& place, Each each) {
  for (Rank round = 0; round < place.size(); ++round) {
    const Rank partner = ((round - place.local) % place.size() + place.size()) % place.size();
    if (partner != place.local) each(partner);
  }
}

// The host's sum of rail q's blocks gathers in the output of the rank that serves rail q.
void reduce_to_rails(Lane& lane, const Place& place, const View& whole, Rank blocks) {
  bool is_first = true;
  for_neighbours(place, [&](Rank partner) {
    if (place.has_rail(partner)) {
      lane.step().load(whole.own(Buffer::in, partner * blocks, blocks)).send(place.rank(partner));
    }
    if (place.has_rail()) {
      const Rank mine = place.local * blocks;
      lane.step()
          .receive(place.rank(partner))
          .load(whole.own(is_first ? Buffer::in : Buffer::out, mine, blocks))
          .store(whole.own(Buffer::out, mine, blocks));
      is_first = false;
    }
  });
  if (place.size() == 1) {  // nobody to exchange with: the rank serves every rail there is, which is one
    lane.step().load(whole.own(Buffer::in, 0, blocks)).store(whole.own(Buffer::out, 0, blocks));
  }
}

void gather_from_rails(Lane& lane, const Place& place, const View& whole, Rank blocks) {
  for_neighbours(place, [&](Rank partner) {
    if (place.has_rail()) {
      lane.step().load(whole.own(Buffer::out, place.local * blocks, blocks)).send(place.rank(partner));
    }
    if (place.has_rail(partner)) {
      lane.step().receive(place.rank(partner)).store(whole.own(Buffer::out, partner * blocks, blocks));
    }
  });
}

// The rail over the sums that the host has gathered in this rank's output.
View sums_view(const Setting& setting, const Place& place, std::uint32_t lane, std::uint32_t blocks) {
  View v = rail_view(setting, place, lane, blocks);
  v.root = 0;
  v.source = Buffer::out;
  return v;
}

void all_reduce_by_tree(const Setting& setting, Rank me, Program& program) {
  const Place place(setting, me);
  tree::for_lane_pairs(setting.shape().lanes, program, [&](std::uint32_t lane, tree::Lanes lanes) {
    const View whole = setting.view(me, lane);
    reduce_to_rails(lanes.up, place, whole, 1);
    if (place.has_rail()) tree::all_reduce(lanes, sums_view(setting, place, lane, 1));
    gather_from_rails(lanes.down, place, whole, 1);
  });
}

}  // namespace

void all_reduce(const Setting& setting, Rank me, Program& program, Outer outer) {
  if (outer == Outer::tree) return all_reduce_by_tree(setting, me, program);
  const Place place(setting, me);
  const auto blocks = static_cast<Rank>(hierarchical::outer_blocks(outer, setting.host_count()));
  for (std::uint32_t lane = 0; lane < setting.shape().lanes; ++lane) {
    Lane& steps = program.lanes.emplace_back();
    const View whole = setting.view(me, lane);
    reduce_to_rails(steps, place, whole, blocks);
    if (place.has_rail()) {
      const View v = sums_view(setting, place, lane, static_cast<std::uint32_t>(blocks));
      outer == Outer::ring ? ring::all_reduce(steps, v) : halving::all_reduce(steps, v);
    }
    gather_from_rails(steps, place, whole, blocks);
  }
}

namespace {

// One rank speaks for each host: the root for its own, the first rank for the others.
struct Leaders {
  std::vector<Rank> ranks;  // per host
  Rank leader;              // of this rank's host
  Rank local_root;          // its position there
  View across;
  View inside;

  Leaders(const Setting& setting, Rank me, std::uint32_t lane) {
    const Rank root = setting.shape().root;
    const Place place(setting, me);
    for (std::uint32_t host = 0; host < setting.host_count(); ++host) {
      ranks.push_back(host == setting.host_of(root) ? root : setting.host(host)[0]);
    }
    leader = ranks[place.host];
    local_root = static_cast<Rank>(setting.local_of(leader));
    across = {.members = ranks,
              .me = static_cast<Rank>(place.host),
              .root = static_cast<Rank>(setting.host_of(root)),
              .lane = lane,
              .lanes = setting.shape().lanes};
    inside = across;
    inside.members = place.neighbours;
    inside.me = place.local;
    inside.root = local_root;
  }
  Leaders(const Leaders&) = delete;  // the views look into `ranks`
  Leaders& operator=(const Leaders&) = delete;
};

}  // namespace

void broadcast(const Setting& setting, Rank me, Program& program, Outer outer) {
  for (std::uint32_t lane = 0; lane < setting.shape().lanes; ++lane) {
    Lane& steps = program.lanes.emplace_back();
    Leaders leaders(setting, me, lane);
    if (me == leaders.leader) {
      outer == Outer::ring ? chain::broadcast(steps, leaders.across) : tree::broadcast(steps, leaders.across);
      if (leaders.inside.n() > 1) {
        steps.step().load(leaders.inside.own(Buffer::out, 0)).send(leaders.inside.next());
      }
    } else {
      chain::broadcast(steps, leaders.inside);
    }
  }
}

// The host's sum waits in the leader's scratch, since only the root has an output.
void reduce(const Setting& setting, Rank me, Program& program, Outer outer) {
  for (std::uint32_t lane = 0; lane < setting.shape().lanes; ++lane) {
    Lane& steps = program.lanes.emplace_back();
    Leaders leaders(setting, me, lane);
    if (me != leaders.leader) {
      chain::reduce(steps, leaders.inside);
      continue;
    }
    if (leaders.inside.n() > 1) {
      auto step = steps.step().receive(leaders.inside.previous());
      leaders.inside.load(step, 0).store(leaders.inside.own(Buffer::scratch, 0));
      leaders.across.source = Buffer::scratch;
    }
    outer == Outer::ring ? chain::reduce(steps, leaders.across) : tree::reduce(steps, leaders.across);
  }
}

namespace {

// The blocks that a rail carries, of all hosts and layers.
std::vector<Rank> blocks_on_rail(const Setting& setting, Rank rail) {
  std::vector<Rank> blocks;
  const auto index = static_cast<std::uint32_t>(rail);
  for (std::uint32_t layer = 0; layer < setting.layer_count(index); ++layer) {
    for (const std::uint32_t block : setting.layer(index, layer)) {
      if (block != View::kNoBlock) blocks.push_back(static_cast<Rank>(block));
    }
  }
  return blocks;
}

// Runs `give` and `take` on the two lists in turn: a pipe holds few messages, so neither side may send all first.
template <class Give, class Take>
void in_turn(const std::vector<Rank>& gives, Give give, const std::vector<Rank>& takes, Take take) {
  for (std::size_t i = 0; i < std::max(gives.size(), takes.size()); ++i) {
    if (i < gives.size()) give(gives[i]);
    if (i < takes.size()) take(takes[i]);
  }
}

// One rank of one lane, with what its rail carries.
struct Carrier {
  const Setting& setting;
  Place place;
  View whole;
  std::uint32_t lane;
  std::vector<Rank> mine = {};  // blocks on this rank's rail; none where it serves no rail

  Carrier(const Setting& s, Rank me, std::uint32_t lane_index)
      : setting(s), place(s, me), whole(s.view(me, lane_index)), lane(lane_index) {
    if (place.has_rail()) mine = blocks_on_rail(s, place.local);
  }
  std::vector<Rank> theirs(Rank partner) const {
    return place.has_rail(partner) ? blocks_on_rail(setting, partner) : std::vector<Rank>();
  }
  // The view of the rail in one layer.
  View rail(std::uint32_t layer) const {
    View v = sums_view(setting, place, lane, 0);
    v.block_of = setting.layer(place.rail(), layer);
    return v;
  }
  std::uint32_t layers() const { return mine.empty() ? 0 : setting.layer_count(place.rail()); }
};

}  // namespace

// Ranks without a rail hand their block to the rank that carries it; then the rails gather; then neighbours exchange
// what their rails brought.
void all_gather(const Setting& setting, Rank me, Program& program) {
  for (std::uint32_t lane = 0; lane < setting.shape().lanes; ++lane) {
    Lane& steps = program.lanes.emplace_back();
    const Carrier c(setting, me, lane);
    steps.step().load(c.whole.own(Buffer::in, me)).store(c.whole.own(Buffer::out, me));
    if (c.mine.empty())
      steps.step().load(c.whole.own(Buffer::out, me)).send(c.place.rank(c.place.local % c.place.rails));
    for (Rank extra = c.place.local + c.place.rails; !c.mine.empty() && extra < c.place.size();
         extra += c.place.rails) {
      steps.step().receive(c.place.rank(extra)).store(c.whole.own(Buffer::out, c.place.rank(extra)));
    }
    for (std::uint32_t layer = 0; layer < c.layers(); ++layer) ring::all_gather(steps, c.rail(layer));
    for_neighbours(c.place, [&](Rank partner) {
      const Rank other = c.place.rank(partner);
      auto gives = c.mine;
      auto takes = c.theirs(partner);
      std::erase(gives, other);  // each has its own block already
      std::erase(takes, me);
      in_turn(
          gives, [&](Rank block) { steps.step().load(c.whole.own(Buffer::out, block)).send(other); }, takes,
          [&](Rank block) { steps.step().receive(other).store(c.whole.own(Buffer::out, block)); });
    });
  }
}

// The reverse: neighbours add up what the rails carry, the rails reduce and scatter, and ranks without a rail get their
// block from the rank that carries it. Sums on their way wait in scratch.
void reduce_scatter(const Setting& setting, Rank me, Program& program) {
  for (std::uint32_t lane = 0; lane < setting.shape().lanes; ++lane) {
    Lane& steps = program.lanes.emplace_back();
    const Carrier c(setting, me, lane);
    bool is_first = true;
    for_neighbours(c.place, [&](Rank partner) {
      const Rank other = c.place.rank(partner);
      in_turn(
          c.theirs(partner), [&](Rank block) { steps.step().load(c.whole.own(Buffer::in, block)).send(other); }, c.mine,
          [&](Rank block) {
            const Slice so_far = c.whole.own(is_first ? Buffer::in : Buffer::scratch, block);
            steps.step().receive(other).load(so_far).store(c.whole.own(Buffer::scratch, block));
          });
      is_first = false;
    });
    for (std::uint32_t layer = 0; layer < c.layers(); ++layer) {
      const Rank local = c.place.local + static_cast<Rank>(layer) * c.place.rails;
      const bool is_own = layer == 0;
      View v = c.rail(layer);
      v.source = c.place.size() > 1 ? Buffer::scratch : Buffer::in;
      v.target = is_own ? Buffer::out : Buffer::scratch;
      ring::reduce_scatter(steps, v);
      if (is_own || local >= c.place.size()) continue;
      const Rank owner = c.place.rank(local);
      steps.step().load(c.whole.own(Buffer::scratch, owner)).send(owner);
    }
    if (c.mine.empty()) {
      steps.step().receive(c.place.rank(c.place.local % c.place.rails)).store(c.whole.own(Buffer::out, me));
    }
  }
}

}  // namespace tutti::plan::hierarchical_pipes

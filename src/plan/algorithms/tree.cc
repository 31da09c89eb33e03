#include "plan/algorithms/tree.h"

#include <optional>

namespace tutti::plan::tree {

namespace {

// Where a member stands, as ranks.
struct Place {
  std::optional<Rank> parent;
  std::vector<Rank> children;
};

// The root stands above a balanced tree of the other n - 1 members, numbered in order: 1 to n - 1. Odd lanes shift the
// numbers by one, which turns leaves into inner nodes.
Place place_of(const View& v) {
  const Rank n = v.n();
  const Rank shift = v.lane % 2 == 1 ? 1 : 0;
  const auto number_of = [&](Rank position) {
    const Rank from_root = v.wrap(position - v.root);
    return from_root == 0 ? 0 : (from_root - 1 + shift) % (n - 1) + 1;
  };
  const auto rank_of = [&](Rank number) {
    return v.rank(number == 0 ? v.root : v.root + (number - 1 + (n - 1) - shift) % (n - 1) + 1);
  };
  Place place;
  const Rank me = number_of(v.me);
  Rank low = 1;
  Rank high = n;
  Rank above = 0;
  if (me == 0) {
    if (n > 1) place.children.push_back(rank_of((low + high) / 2));
    return place;
  }
  for (;;) {  // ends: the interval that holds `me` shrinks
    const Rank middle = (low + high) / 2;
    if (me == middle) break;
    above = middle;
    (me < middle ? high : low) = me < middle ? middle : middle + 1;
  }
  place.parent = rank_of(above);
  if (low < me) place.children.push_back(rank_of((low + me) / 2));
  if (me + 1 < high) place.children.push_back(rank_of((me + 1 + high) / 2));
  return place;
}

// Adds up what the children send and this member's own; with two children the first sum waits in scratch.
void climb(Lane& lane, const View& v, const Place& place) {
  if (place.children.size() == 2) {
    auto step = lane.step().receive(place.children[0]);
    v.load(step, 0).store(v.own(Buffer::scratch, 0));
  }
  auto step = lane.step();
  if (!place.children.empty()) step.receive(place.children.back());
  if (place.children.size() == 2) {
    step.load(v.own(Buffer::scratch, 0));
  } else {
    v.load(step, 0);
  }
  if (place.parent) {
    step.send(*place.parent);
  } else {
    step.finish();
    v.deliver(step, 0);
  }
}

// Hands the result to the children; the first gets it with the step that stores it.
void descend(Lane& lane, const View& v, const Place& place) {
  auto step = lane.step().receive(*place.parent);
  v.deliver(step, 0);
  if (!place.children.empty()) step.send(place.children[0]);
  if (place.children.size() == 2) lane.step().load(v.own(v.target, 0)).send(place.children[1]);
}

}  // namespace

void all_reduce(Lanes lanes, const View& v) {
  const Place place = place_of(v);
  View climbing = v;
  climbing.mirrors = {};  // the root keeps the sum: others get it in the lane that comes down
  climb(lanes.up, climbing, place);
  if (place.parent) {
    descend(lanes.down, v, place);
    return;
  }
  const auto summed = static_cast<std::uint32_t>(lanes.up.size() - 1);
  auto first = lanes.down.step().after(Point{lanes.up_index, summed}).load(v.own(v.target, 0));
  if (!v.mirrors.empty()) v.deliver(first, 0);
  first.send(place.children[0]);
}

void broadcast(Lane& lane, const View& v) {
  const Place place = place_of(v);
  if (place.parent) {
    descend(lane, v, place);
    return;
  }
  auto step = lane.step();
  v.load(step, 0);
  v.deliver(step, 0).send(place.children[0]);
}

void reduce(Lane& lane, const View& v) { climb(lane, v, place_of(v)); }

void barrier(Lane& lane, const View& v) {
  const Place place = place_of(v);
  if (!place.children.empty()) lane.step().wait(place.children);
  if (place.parent) {
    lane.step().signal(*place.parent);
    lane.step().wait(*place.parent);
  }
  if (!place.children.empty()) lane.step().signal(place.children);
}

}  // namespace tutti::plan::tree

#include "plan/algorithms/ring.h"

namespace tutti::plan::ring {

// Block b starts at member b + 1, travels around, each member adding its contribution, and is complete at member b;
// then the complete blocks travel around once more.
void all_reduce(Lane& lane, const View& v) {
  const auto block = [&](Rank hops) { return v.wrap(v.me - 1 - hops); };  // the block that passes by at this hop
  const Rank last = v.n() - 1;

  auto first = lane.step();
  v.load(first, block(0)).send(v.next());
  for (Rank hop = 1; hop < last; ++hop) {
    auto step = lane.step().receive(v.previous());
    v.load(step, block(hop)).send(v.next());
  }
  auto complete = lane.step().receive(v.previous());
  v.load(complete, block(last)).finish();
  v.deliver(complete, block(last)).send(v.next());
  for (Rank hop = 0; hop < last; ++hop) {
    auto step = lane.step().receive(v.previous());
    v.deliver(step, block(hop));
    if (hop + 1 < last) step.send(v.next());
  }
}

void reduce_scatter(Lane& lane, const View& v) {
  const auto block = [&](Rank hops) { return v.wrap(v.me - 1 - hops); };
  const Rank last = v.n() - 1;

  auto first = lane.step();
  v.load(first, block(0)).send(v.next());
  for (Rank hop = 1; hop < last; ++hop) {
    auto step = lane.step().receive(v.previous());
    v.load(step, block(hop)).send(v.next());
  }
  auto complete = lane.step().receive(v.previous());
  v.load(complete, v.me).finish();
  v.deliver(complete, v.me);
}

void all_gather(Lane& lane, const View& v) {
  auto first = lane.step();
  v.load(first, v.me);
  v.deliver(first, v.me).send(v.next());
  for (Rank hop = 1; hop < v.n(); ++hop) {
    auto step = lane.step().receive(v.previous());
    v.deliver(step, v.wrap(v.me - hop));
    if (hop + 1 < v.n()) step.send(v.next());
  }
}

}  // namespace tutti::plan::ring

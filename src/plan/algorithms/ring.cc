#include "plan/algorithms/ring.h"

namespace tutti::plan::ring {

namespace {

// Block b starts at member b + 1 and travels around, each member adding its contribution. Returns the step in which the
// block of this member is complete.
StepWriter reduce_around(Lane& lane, const View& v) {
  for (Rank hop = 0; hop < v.n() - 1; ++hop) {
    auto step = lane.step();
    if (hop > 0) step.receive(v.previous());
    v.load(step, v.wrap(v.me - 1 - hop)).send(v.next());
  }
  auto complete = lane.step().receive(v.previous());
  v.load(complete, v.me).finish();
  return complete;
}

// Complete blocks travel around once more; the one of this member has been sent.
void pass_around(Lane& lane, const View& v) {
  for (Rank hop = 1; hop < v.n(); ++hop) {
    auto step = lane.step().receive(v.previous());
    v.deliver(step, v.wrap(v.me - hop));
    if (hop + 1 < v.n()) step.send(v.next());
  }
}

}  // namespace

void all_reduce(Lane& lane, const View& v) {
  auto complete = reduce_around(lane, v);
  v.deliver(complete, v.me).send(v.next());
  pass_around(lane, v);
}

void reduce_scatter(Lane& lane, const View& v) {
  auto complete = reduce_around(lane, v);
  v.deliver(complete, v.me);
}

void all_gather(Lane& lane, const View& v) {
  auto first = lane.step();
  v.load(first, v.me);
  v.deliver(first, v.me).send(v.next());
  pass_around(lane, v);
}

}  // namespace tutti::plan::ring

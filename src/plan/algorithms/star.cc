#include "plan/algorithms/star.h"

namespace tutti::plan::star {

void broadcast(Lane& lane, const View& v) {
  if (v.me != v.root) {
    auto step = lane.step().receive(v.rank(v.root));
    v.deliver(step, 0);
    return;
  }
  for (Rank distance = 1; distance < v.n(); ++distance) {
    auto step = lane.step();
    v.load(step, 0).send(v.rank(v.root + distance));
  }
  auto own = lane.step();
  v.load(own, 0);
  v.deliver(own, 0);
}

// Sums so far wait in the root's scratch.
void reduce(Lane& lane, const View& v) {
  auto first = lane.step();
  v.load(first, 0);
  if (v.me != v.root) {
    first.send(v.rank(v.root));
    return;
  }
  first.store(v.own(Buffer::scratch, 0));
  for (Rank distance = 1; distance < v.n(); ++distance) {
    const bool is_last = distance == v.n() - 1;
    auto step = lane.step().receive(v.rank(v.root + distance)).load(v.own(Buffer::scratch, 0)).finish(is_last);
    is_last ? v.deliver(step, 0) : step.store(v.own(Buffer::scratch, 0));
  }
}

}  // namespace tutti::plan::star

#include "plan/algorithms/chain.h"

namespace tutti::plan::chain {

void broadcast(Lane& lane, const View& v) {
  const bool is_root = v.me == v.root;
  const bool is_last = v.wrap(v.me + 1) == v.root;
  auto step = lane.step();
  if (is_root) {
    v.load(step, 0);
  } else {
    step.receive(v.previous());
  }
  v.deliver(step, 0);
  if (!is_last) step.send(v.next());
}

void reduce(Lane& lane, const View& v) {
  const bool is_root = v.me == v.root;
  const bool is_first = v.wrap(v.me - 1) == v.root;
  auto step = lane.step();
  if (!is_first) step.receive(v.previous());
  v.load(step, 0);
  if (is_root) {
    step.finish();
    v.deliver(step, 0);
  } else {
    step.send(v.next());
  }
}

}  // namespace tutti::plan::chain

#include "plan/algorithms/staged.h"

#include "plan/algorithms/staging.h"

namespace tutti::plan::staged {

namespace {

// Leaves the complete sum of this member's block in the step that comes back. The stage has room for it: its own block
// is the one that a rank has not published.
StepWriter sum_own_block(Lane& lane, const View& v) {
  publish_for_others(lane, v);
  meet(lane, v.members, v.me);
  auto sum = lane.step();
  load_published(sum, v, v.me).finish();
  return sum;
}

void collect_sums(Lane& lane, const View& v) {
  for (Rank distance = 1; distance < v.n(); ++distance) {
    const Rank member = v.wrap(v.me + distance);
    lane.step().load(v.slice(Buffer::stage, v.rank(member), member)).store(v.own(Buffer::out, member));
  }
}

}  // namespace

void all_reduce(Lane& lane, const View& v) {
  sum_own_block(lane, v).store(v.own(Buffer::out, v.me)).store(v.own(Buffer::stage, v.me));
  meet(lane, v.members, v.me);
  collect_sums(lane, v);
}

void reduce(Lane& lane, const View& v) {
  auto sum = sum_own_block(lane, v);
  if (v.me != v.root) {
    sum.store(v.own(Buffer::stage, v.me)).signal(v.rank(v.root));
    return;
  }
  sum.store(v.own(Buffer::out, v.me));
  lane.step().wait(others(v.members, v.self()));
  collect_sums(lane, v);
}

}  // namespace tutti::plan::staged

#include "plan/algorithms/pull.h"

namespace tutti::plan::pull {

namespace {

// Calls each(member) for all members, beginning with this one: that spreads the readers over the memories.
template <class Each>
void for_all(const View& v, Each each) {
  for (Rank distance = 0; distance < v.n(); ++distance) each(v.wrap(v.me + distance));
}

// A copy of another member's block, or of this rank's own, to its output.
void fetch(Lane& lane, const View& v, const Slice& source, Rank block) {
  lane.step().load(source).store(v.own(Buffer::out, block));
}

StepWriter sum_own_block(Lane& lane, const View& v) {
  View all = v;
  all.contributors = v.members;
  auto sum = lane.step();
  all.load(sum, v.me).finish();
  return sum;
}

}  // namespace

// The middle meeting says that sums are there, and that inputs are no longer needed: in place outputs overwrite them.
void all_reduce(Lane& lane, const View& v) {
  meet(lane, v.members, v.me);
  sum_own_block(lane, v).store(v.own(Buffer::out, v.me));
  meet(lane, v.members, v.me);
  for_all(v, [&](Rank member) {
    if (member != v.me) fetch(lane, v, v.slice(Buffer::out, v.rank(member), member), member);
  });
  meet(lane, v.members, v.me);
}

void all_gather(Lane& lane, const View& v) {
  meet(lane, v.members, v.me);
  for_all(v, [&](Rank member) { fetch(lane, v, v.slice(Buffer::in, v.rank(member), member), member); });
  meet(lane, v.members, v.me);
}

// Ranks other than the root have no output, so their sums wait in their stages. Nobody has to wait for the root to load
// them there: the second meeting, after which no input is read, is the last.
void reduce(Lane& lane, const View& v) {
  const bool is_root = v.me == v.root;
  meet(lane, v.members, v.me);
  sum_own_block(lane, v).store(v.own(is_root ? Buffer::out : Buffer::stage, v.me));
  meet(lane, v.members, v.me);
  if (!is_root) return;
  for_all(v, [&](Rank member) {
    if (member != v.me) fetch(lane, v, v.slice(Buffer::stage, v.rank(member), member), member);
  });
}

void gather(Lane& lane, const View& v) {
  const Rank root = v.rank(v.root);
  if (v.me != v.root) {
    lane.step().signal(root);
    lane.step().wait(root);
    return;
  }
  const auto rest = others(v.members, root);
  lane.step().wait(rest);
  for_all(v, [&](Rank member) { fetch(lane, v, v.slice(Buffer::in, v.rank(member), member), member); });
  lane.step().signal(rest);
}

void all_to_all(Lane& lane, const View& v) {
  meet(lane, v.members, v.me);
  for_all(v, [&](Rank member) { fetch(lane, v, v.slice(Buffer::in, v.rank(member), v.me), member); });
  meet(lane, v.members, v.me);
}

}  // namespace tutti::plan::pull

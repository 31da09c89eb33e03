#include "plan/algorithms/halves.h"

namespace tutti::plan::halves {

namespace {

constexpr Rank kGiven = 0;  // the half that its owner stores in the memory of the other
constexpr Rank kTaken = 1;  // the half that the other loads

}  // namespace

// The root carries the half that it gives into both outputs, and the other one into its own. In place its own are
// there.
void broadcast(Lane& lane, const View& v) {
  const Rank root = v.rank(v.root);
  meet(lane, v.members, v.me);
  if (v.me == v.root) {
    const Rank other = others(v.members, root)[0];
    lane.step()
        .load(v.own(Buffer::in, kGiven))
        .store(v.slice(Buffer::out, other, kGiven))
        .store(v.own(Buffer::out, kGiven));
    lane.step().load(v.own(Buffer::in, kTaken)).store(v.own(Buffer::out, kTaken));
  } else {
    lane.step().load(v.slice(Buffer::in, root, kTaken)).store(v.own(Buffer::out, kTaken));
  }
  meet(lane, v.members, v.me);
}

}  // namespace tutti::plan::halves

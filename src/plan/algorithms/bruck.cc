#include "plan/algorithms/bruck.h"

#include <algorithm>

namespace tutti::plan::bruck {

namespace {

// The blocks [begin, begin + count) around the ring of n, as one or two rows of blocks.
template <class Each>
void rows(Rank begin, Rank count, Rank n, Each each) {
  const Rank first = std::min(count, n - begin);
  each(begin, first);
  if (count > first) each(Rank{0}, count - first);
}

}  // namespace

// After the round with distance d this rank holds the blocks of itself and the 2d - 1 members that follow it.
void all_gather(Lane& lane, const View& v) {
  auto first = lane.step();
  v.load(first, v.me);
  v.deliver(first, v.me);
  for (Rank distance = 1; distance < v.n(); distance *= 2) {
    const Rank count = std::min(distance, v.n() - distance);
    rows(v.me, count, v.n(), [&](Rank block, Rank blocks) {
      lane.step().load(v.own(v.target, block, blocks)).send(v.rank(v.me - distance));
    });
    rows(v.wrap(v.me + distance), count, v.n(), [&](Rank block, Rank blocks) {
      auto step = lane.step().receive(v.rank(v.me + distance));
      v.deliver(step, block, blocks);
    });
  }
}

// A block that has to travel i members onward moves in the rounds of the bits of i, lowest first, and waits in
// scratch[i] in between. One message per block: what moves in a round does not lie together.
void all_to_all(Lane& lane, const View& v) {
  lane.step().load(v.own(Buffer::in, v.me)).store(v.own(Buffer::out, v.me));
  for (Rank distance = 1; distance < v.n(); distance *= 2) {
    for (Rank i = distance; i < v.n(); ++i) {
      if ((i & distance) == 0) continue;
      const bool is_first_move = (i & (distance - 1)) == 0;
      const bool is_last_move = i < 2 * distance;
      lane.step()
          .load(is_first_move ? v.own(Buffer::in, v.wrap(v.me + i)) : v.own(Buffer::scratch, i))
          .send(v.rank(v.me + distance));
      lane.step()
          .receive(v.rank(v.me - distance))
          .store(is_last_move ? v.own(Buffer::out, v.wrap(v.me - i)) : v.own(Buffer::scratch, i));
    }
  }
}

void barrier(Lane& lane, const View& v) {
  for (Rank distance = 1; distance < v.n(); distance *= 2) {
    lane.step().signal(v.rank(v.me + distance));
    lane.step().wait(v.rank(v.me - distance));
  }
}

}  // namespace tutti::plan::bruck

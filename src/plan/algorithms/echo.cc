#include "plan/algorithms/echo.h"

#include "plan/algorithms/staging.h"

namespace tutti::plan::echo {

namespace {

// Two rows of blocks, those before its own and those after, as they were published.
void take_back(Lane& lane, const View& v) {
  const auto take = [&](Rank first, Rank count) {
    if (count > 0) lane.step().load(v.own(Buffer::stage, first, count)).store(v.own(Buffer::out, first, count));
  };
  take(0, v.me);
  take(v.me + 1, v.n() - v.me - 1);
}

}  // namespace

void all_reduce(Lane& lane, const View& v) {
  publish_for_others(lane, v);
  meet(lane, v.members, v.me);
  auto sum = lane.step();
  load_published(sum, v, v.me).finish().store(v.own(Buffer::out, v.me));
  for (const Rank member : others(v.members, v.self())) sum.store(v.slice(Buffer::stage, member, v.me));
  meet(lane, v.members, v.me);
  take_back(lane, v);
}

}  // namespace tutti::plan::echo

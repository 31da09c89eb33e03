#include "plan/algorithms/staging.h"

namespace tutti::plan {

// Two rows of blocks, those before its own and those after: two steps for any number of members.
void publish_for_others(Lane& lane, const View& v) {
  const auto publish = [&](Rank first, Rank count) {
    if (count > 0) lane.step().load(v.own(Buffer::in, first, count)).store(v.own(Buffer::stage, first, count));
  };
  publish(0, v.me);
  publish(v.me + 1, v.n() - v.me - 1);
}

StepWriter& load_published(StepWriter& step, const View& v, Rank block) {
  for (Rank member = 0; member < v.n(); ++member) {
    step.load(member == v.me ? v.own(Buffer::in, block) : v.slice(Buffer::stage, v.rank(member), block));
  }
  return step;
}

}  // namespace tutti::plan

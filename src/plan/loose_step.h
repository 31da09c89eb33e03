// A step with lists of its own, for passes and tests that take steps apart and put them together again.
#pragma once

#include <vector>

#include "tutti/plan.h"

namespace tutti::plan {

struct LooseStep {
  std::vector<Point> after;
  std::vector<Rank> waits;
  Rank receive_from = kNoRank;
  std::vector<Slice> sources;
  bool finish = false;
  std::vector<Slice> targets;
  Rank send_to = kNoRank;
  std::vector<Rank> signals;

  bool has_value() const { return receive_from != kNoRank || !sources.empty(); }
};

inline LooseStep loose_step(const Lane& lane, const Step& step) {
  const auto copy = [](auto span) { return std::vector(span.begin(), span.end()); };
  return {.after = copy(lane.after(step)),
          .waits = copy(lane.waits(step)),
          .receive_from = step.receive_from,
          .sources = copy(lane.sources(step)),
          .finish = step.finish,
          .targets = copy(lane.targets(step)),
          .send_to = step.send_to,
          .signals = copy(lane.signals(step))};
}

inline void append(Lane& lane, const LooseStep& s) {
  lane.step()
      .after(s.after)
      .wait(s.waits)
      .receive(s.receive_from)
      .load(s.sources)
      .finish(s.finish)
      .store(s.targets)
      .send(s.send_to)
      .signal(s.signals);
}

}  // namespace tutti::plan

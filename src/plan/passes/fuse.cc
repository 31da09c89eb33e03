#include "plan/passes/fuse.h"

#include <algorithm>

#include "plan/loose_step.h"

namespace tutti::plan {

namespace {

bool only_waits(const LooseStep& step) { return !step.has_value() && step.signals.empty(); }
bool only_signals(const LooseStep& step) { return !step.has_value() && step.waits.empty() && step.after.empty(); }

bool passes_on(const LooseStep& first, const LooseStep& second) {
  const bool is_plain_copy = second.receive_from == kNoRank && second.sources.size() == 1 && !second.finish &&
                             second.waits.empty() && second.after.empty();
  return is_plain_copy && first.has_value() && first.send_to == kNoRank && first.signals.empty() &&
         std::find(first.targets.begin(), first.targets.end(), second.sources[0]) != first.targets.end();
}

template <class T>
void append_to(std::vector<T>& list, const std::vector<T>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

bool try_join(LooseStep& first, const LooseStep& second) {
  if (only_waits(first)) {
    LooseStep joined = second;
    joined.after = first.after;
    append_to(joined.after, second.after);
    joined.waits = first.waits;
    append_to(joined.waits, second.waits);
    first = std::move(joined);
    return true;
  }
  if (only_signals(second)) {
    append_to(first.signals, second.signals);
    return true;
  }
  if (passes_on(first, second)) {
    append_to(first.targets, second.targets);
    first.send_to = second.send_to;
    first.signals = second.signals;
    return true;
  }
  return false;
}

}  // namespace

Program fuse(const Program& program) {
  std::vector<std::vector<LooseStep>> lanes;
  std::vector<std::vector<std::uint32_t>> moved_to;  // per lane: where each old step is now
  for (const Lane& lane : program.lanes) {
    auto& steps = lanes.emplace_back();
    auto& places = moved_to.emplace_back();
    for (std::size_t i = 0; i < lane.size(); ++i) {
      LooseStep step = loose_step(lane, lane[i]);
      if (steps.empty() || !try_join(steps.back(), step)) steps.push_back(std::move(step));
      places.push_back(static_cast<std::uint32_t>(steps.size() - 1));
    }
  }
  Program fused;
  for (auto& steps : lanes) {
    Lane& lane = fused.lanes.emplace_back();
    for (LooseStep& step : steps) {
      for (Point& point : step.after) point.step = moved_to[point.lane][point.step];
      append(lane, step);
    }
  }
  return fused;
}

}  // namespace tutti::plan

#include "engine/host/forwarding.h"

#include <algorithm>
#include <optional>

namespace tutti::engine {

namespace {

using namespace plan;

bool overlaps(const Slice& a, const Slice& b) {
  if (a.owner != b.owner || a.buffer != b.buffer) return false;
  for (std::uint32_t i = 0; i < a.count; ++i) {
    for (std::uint32_t j = 0; j < b.count; ++j) {
      if (a.at(i) == b.at(j)) return true;
    }
  }
  return false;
}

bool has_same_chunks(const Slice& a, const Slice& b) {
  return a.chunk == b.chunk && a.count == b.count && a.stride == b.stride;
}

// A copy of an input, and the steps that may read it there.
struct Copy {
  Slice input;
  Slice kept;
  std::size_t at = 0;
  std::size_t end = 0;  // the first step that stores to `kept` again; or one after the last
};

class Forwarder {
 public:
  Forwarder(Rank self, const Lane& lane, std::vector<StepSlices>& steps) : self_(self), lane_(lane), steps_(steps) {}

  void run() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (const auto copy = find_copy(i)) apply(*copy);
    }
  }

 private:
  std::optional<Copy> find_copy(std::size_t at) const {
    const auto& [sources, targets] = steps_[at];
    const bool is_copy = lane_[at].receive_from == kNoRank && sources.size() == 1 && targets.size() == 1;
    if (!is_copy || lane_[at].finish) return std::nullopt;
    Copy copy{sources[0], targets[0], at, at + 1};
    const bool is_own = copy.input.owner == self_ && copy.kept.owner == self_;
    const bool is_kept = copy.kept.buffer == Buffer::out || copy.kept.buffer == Buffer::scratch;
    if (!is_own || !is_kept || copy.input.buffer != Buffer::in || !has_same_chunks_or_scratch(copy)) {
      return std::nullopt;
    }
    while (copy.end < steps_.size() && !stores_to(copy.end, copy.kept)) ++copy.end;
    return is_harmless(copy) ? std::optional(copy) : std::nullopt;
  }

  static bool has_same_chunks_or_scratch(const Copy& copy) {
    return copy.kept.buffer == Buffer::scratch || has_same_chunks(copy.input, copy.kept);
  }

  bool stores_to(std::size_t step, const Slice& slice) const {
    const auto& targets = steps_[step].targets;
    return std::any_of(targets.begin(), targets.end(), [&](const Slice& each) { return overlaps(each, slice); });
  }

  bool is_harmless(const Copy& copy) const {
    const bool is_needed_after = copy.kept.buffer == Buffer::out && copy.end == steps_.size();
    if (is_needed_after) return false;
    for (std::size_t i = copy.at + 1; i < std::min(copy.end + 1, steps_.size()); ++i) {
      for (const Slice& source : steps_[i].sources) {
        if (overlaps(source, copy.kept) && source != copy.kept) return false;
      }
      for (const Slice& target : steps_[i].targets) {
        if (!leaves_alone(copy, i, target)) return false;
      }
    }
    return true;
  }

  // In place, what is stored to an output is stored to the input: only its last reader may do so, chunk by chunk.
  bool leaves_alone(const Copy& copy, std::size_t step, const Slice& target) const {
    if (target.owner != self_) return true;
    if (step == copy.end && overlaps(target, copy.kept) && target != copy.kept) return false;
    if (target.buffer != Buffer::out) return true;
    if (has_same_chunks(target, copy.input) && is_last_reader(copy, step)) return true;
    Slice as_input = target;
    as_input.buffer = Buffer::in;
    return !overlaps(as_input, copy.input);
  }

  bool is_last_reader(const Copy& copy, std::size_t step) const {
    for (std::size_t i = step + 1; i < std::min(copy.end + 1, steps_.size()); ++i) {
      const auto& sources = steps_[i].sources;
      if (std::find(sources.begin(), sources.end(), copy.kept) != sources.end()) return false;
    }
    return true;
  }

  void apply(const Copy& copy) {
    StepSlices& first = steps_[copy.at];
    first.targets.clear();
    if (lane_[copy.at].send_to == kNoRank) first.sources.clear();
    for (std::size_t i = copy.at + 1; i < std::min(copy.end + 1, steps_.size()); ++i) {
      for (Slice& source : steps_[i].sources) {
        if (source == copy.kept) source = copy.input;
      }
    }
  }

  Rank self_;
  const Lane& lane_;
  std::vector<StepSlices>& steps_;
};

}  // namespace

std::vector<StepSlices> slices_of(const Lane& lane) {
  std::vector<StepSlices> steps;
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const auto sources = lane.sources(lane[i]);
    const auto targets = lane.targets(lane[i]);
    steps.push_back({{sources.begin(), sources.end()}, {targets.begin(), targets.end()}});
  }
  return steps;
}

void forward_inputs(const Prepared& prepared, Rank self, const Lane& lane, std::vector<StepSlices>& steps) {
  // Where input and output have the same chunks, and nobody else touches them.
  const bool is_alike = prepared.header.collective == Collective::all_reduce;
  const bool is_alone = prepared.program.lanes.size() == 1 && prepared.reached[static_cast<std::size_t>(self)] == 0;
  if (is_alike && is_alone) Forwarder(self, lane, steps).run();
}

}  // namespace tutti::engine

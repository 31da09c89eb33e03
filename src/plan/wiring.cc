#include "plan/wiring.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace tutti::plan {

namespace {

constexpr std::uint64_t kLanesMax = 1 << 16;  // of one rank; far above what the parser and build() allow

}  // namespace

Wiring::Wiring(const Plan& plan) : plan_(plan) {
  for (Rank rank = 0; rank < plan.ranks; ++rank) {
    const Program& program = plan.programs[static_cast<std::size_t>(rank)];
    first_lane_.push_back(static_cast<std::uint32_t>(places_.size()));
    rank_has_after_.push_back(false);
    for (std::uint32_t lane = 0; lane < program.lanes.size(); ++lane) places_.push_back({rank, lane});
  }
  std::unordered_map<std::uint64_t, PipeId> known;
  const auto pipe_between = [&](Rank from, Rank to, std::uint32_t lane) {
    const auto ranks = static_cast<std::uint64_t>(plan.ranks);
    const std::uint64_t ends = static_cast<std::uint64_t>(from) * ranks + static_cast<std::uint64_t>(to);
    const auto [entry, is_new] = known.try_emplace(ends * kLanesMax + lane, static_cast<PipeId>(pipes_.size()));
    if (is_new) pipes_.push_back({from, to, lane});
    return entry->second;
  };
  ends_.resize(places_.size());
  first_end_.resize(places_.size());
  for (std::uint32_t global = 0; global < places_.size(); ++global) {
    const auto [rank, lane_index] = places_[global];
    const Lane& lane = plan.programs[static_cast<std::size_t>(rank)].lanes[lane_index];
    auto& ends = ends_[global];
    for (std::size_t i = 0; i < lane.size(); ++i) {
      const Step& step = lane[i];
      first_end_[global].push_back(static_cast<std::uint32_t>(ends.size()));
      for (const Rank peer : lane.waits(step)) ends.push_back(pipe_between(peer, rank, lane_index));
      if (step.receive_from != kNoRank) ends.push_back(pipe_between(step.receive_from, rank, lane_index));
      if (step.send_to != kNoRank) ends.push_back(pipe_between(rank, step.send_to, lane_index));
      for (const Rank peer : lane.signals(step)) ends.push_back(pipe_between(rank, peer, lane_index));
      if (step.after_count > 0) rank_has_after_[static_cast<std::size_t>(rank)] = true;
    }
  }
  for (const Pipe& pipe : pipes_) {
    // A peer without such a lane leaves the pipe with one end; the walk then gets stuck there.
    const auto end = [&](Rank rank) {
      const auto lanes = plan.programs[static_cast<std::size_t>(rank)].lanes.size();
      return pipe.lane < lanes ? global_lane(rank, pipe.lane) : static_cast<std::uint32_t>(places_.size());
    };
    reader_.push_back(end(pipe.to));
    writer_.push_back(end(pipe.from));
  }
}

Visit Wiring::visit_of(std::uint32_t global, std::uint32_t index) const {
  const auto [rank, lane_index] = places_[global];
  const Step& step = plan_.programs[static_cast<std::size_t>(rank)].lanes[lane_index][index];
  const std::size_t takes = step.wait_count + std::size_t{step.receive_from != kNoRank};
  const std::size_t gives = step.signal_count + std::size_t{step.send_to != kNoRank};
  const std::span<const PipeId> ends(ends_[global]);
  const std::size_t first = first_end_[global][index];
  return {rank, lane_index, global, index, ends.subspan(first, takes), ends.subspan(first + takes, gives)};
}

struct Wiring::State {
  std::vector<std::uint32_t> next_step;  // per global lane
  std::vector<std::uint32_t> fill;       // messages per pipe
  std::vector<std::uint32_t> ready;      // lanes worth trying
  std::vector<bool> is_ready;

  void wake(std::uint32_t lane) {
    if (lane >= is_ready.size() || is_ready[lane]) return;
    is_ready[lane] = true;
    ready.push_back(lane);
  }
};

// Takes and gives all at once or nothing. A step may take several messages from one pipe.
bool Wiring::try_step(State& state, std::uint32_t global, std::uint32_t slots) const {
  const Visit visit = visit_of(global, state.next_step[global]);
  const Lane& lane = plan_.programs[static_cast<std::size_t>(visit.rank)].lanes[visit.lane];
  for (const Point& point : lane.after(lane[visit.step])) {
    if (state.next_step[global_lane(visit.rank, point.lane)] <= point.step) return false;
  }
  std::size_t taken = 0;
  while (taken < visit.takes.size() && state.fill[visit.takes[taken]] > 0) --state.fill[visit.takes[taken++]];
  std::size_t given = 0;
  if (taken == visit.takes.size()) {
    while (given < visit.gives.size() && state.fill[visit.gives[given]] < slots) ++state.fill[visit.gives[given++]];
  }
  if (taken == visit.takes.size() && given == visit.gives.size()) return true;
  while (given > 0) --state.fill[visit.gives[--given]];
  while (taken > 0) ++state.fill[visit.takes[--taken]];
  return false;
}

std::optional<Fault> Wiring::walk(std::uint32_t slots, const std::function<bool(const Visit&)>& each) const {
  State state;
  state.next_step.assign(places_.size(), 0);
  state.fill.assign(pipes_.size(), 0);
  state.is_ready.assign(places_.size(), false);
  for (std::size_t lane = places_.size(); lane-- > 0;) state.wake(static_cast<std::uint32_t>(lane));

  const auto size_of = [&](std::uint32_t global) { return first_end_[global].size(); };
  while (!state.ready.empty()) {
    const std::uint32_t global = state.ready.back();
    state.ready.pop_back();
    state.is_ready[global] = false;
    while (state.next_step[global] < size_of(global) && try_step(state, global, slots)) {
      const Visit visit = visit_of(global, state.next_step[global]);
      if (!each(visit)) return std::nullopt;
      ++state.next_step[global];
      for (const PipeId pipe : visit.takes) state.wake(writer_[pipe]);
      for (const PipeId pipe : visit.gives) state.wake(reader_[pipe]);
      if (rank_has_after_[static_cast<std::size_t>(visit.rank)]) {
        const auto lanes = plan_.programs[static_cast<std::size_t>(visit.rank)].lanes.size();
        for (std::uint32_t lane = 0; lane < lanes; ++lane) state.wake(global_lane(visit.rank, lane));
      }
    }
  }
  for (std::uint32_t global = 0; global < places_.size(); ++global) {
    if (state.next_step[global] < size_of(global)) return describe_stuck(state, global, slots);
  }
  return std::nullopt;
}

Fault Wiring::describe_stuck(const State& state, std::uint32_t global, std::uint32_t slots) const {
  const Visit visit = visit_of(global, state.next_step[global]);
  const auto where = [&](std::uint32_t lane) {
    if (lane >= places_.size()) return std::string("has no such lane");
    if (state.next_step[lane] == first_end_[lane].size()) return std::string("has ended");
    return fmt::format("is stuck at step {}", state.next_step[lane]);
  };
  Fault fault{FaultKind::deadlock, visit.rank, visit.lane, visit.step, ""};
  for (const PipeId pipe : visit.takes) {
    if (state.fill[pipe] == 0) {
      fault.reason = fmt::format("waits for a message from rank {}, which {}", pipes_[pipe].from, where(writer_[pipe]));
      return fault;
    }
  }
  for (const PipeId pipe : visit.gives) {
    if (state.fill[pipe] >= slots) {
      fault.reason = fmt::format("needs a free slot to rank {}: all {} hold messages not taken by rank {}, which {}",
                                 pipes_[pipe].to, slots, pipes_[pipe].to, where(reader_[pipe]));
      return fault;
    }
  }
  fault.reason =
      "takes more messages at once than its pipes will hold, or waits for a lane of its own rank that is stuck";
  return fault;
}

std::optional<PipeId> Wiring::unread_pipe() const {
  std::vector<std::int64_t> balance(pipes_.size(), 0);
  for (std::uint32_t global = 0; global < places_.size(); ++global) {
    for (std::uint32_t step = 0; step < first_end_[global].size(); ++step) {
      const Visit visit = visit_of(global, step);
      for (const PipeId pipe : visit.takes) --balance[pipe];
      for (const PipeId pipe : visit.gives) ++balance[pipe];
    }
  }
  const auto left = std::find_if(balance.begin(), balance.end(), [](std::int64_t count) { return count > 0; });
  if (left == balance.end()) return std::nullopt;
  return static_cast<PipeId>(left - balance.begin());
}

}  // namespace tutti::plan

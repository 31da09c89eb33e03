// Which pipes the steps of a plan read and write, and an order in which all steps can run.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tutti/check.h"
#include "tutti/plan.h"

namespace tutti::plan {

using PipeId = std::uint32_t;

// A step as the walk sees it; pipes in the order of the step rule.
struct Visit {
  Rank rank;
  std::uint32_t lane;         // of the rank
  std::uint32_t global_lane;  // of the plan
  std::uint32_t step;
  std::span<const PipeId> takes;  // one per wait, then the one it receives from
  std::span<const PipeId> gives;  // the one it sends to, then one per signal
};

class Wiring {
 public:
  explicit Wiring(const Plan& plan);  // peers and points of the plan must be in range

  std::size_t lane_count() const { return places_.size(); }
  std::size_t pipe_count() const { return pipes_.size(); }
  std::uint32_t global_lane(Rank rank, std::uint32_t lane) const {
    return first_lane_[static_cast<std::size_t>(rank)] + lane;
  }
  Rank rank_of(std::uint32_t global_lane) const { return places_[global_lane].rank; }

  struct Pipe {
    Rank from;
    Rank to;
    std::uint32_t lane;
  };
  const Pipe& pipe(PipeId id) const { return pipes_[id]; }
  std::uint32_t reader(PipeId id) const {
    return reader_[id];
  }  // global lanes; lane_count() when there is no such lane
  std::uint32_t writer(PipeId id) const { return writer_[id]; }

  Visit visit_of(std::uint32_t global_lane, std::uint32_t step) const;

  // Runs every lane as far as it goes with this many slots a pipe. Pipes have one writer and one reader and steps
  // never choose, so whether all steps run does not depend on the order: one walk stands for all. `each` sees the steps
  // in an order in which they can run and returns false to stop. The fault names the first lane that is stuck.
  std::optional<Fault> walk(std::uint32_t slots, const std::function<bool(const Visit&)>& each) const;

  // Messages left in the pipes when every step has run: their pipes. Independent of the slots.
  std::optional<PipeId> unread_pipe() const;

 private:
  struct Place {
    Rank rank;
    std::uint32_t lane;
  };
  struct State;
  bool try_step(State& state, std::uint32_t global_lane, std::uint32_t slots) const;
  Fault describe_stuck(const State& state, std::uint32_t global_lane, std::uint32_t slots) const;

  const Plan& plan_;
  std::vector<std::uint32_t> first_lane_;  // per rank
  std::vector<Place> places_;              // per global lane
  std::vector<bool> rank_has_after_;
  std::vector<Pipe> pipes_;
  std::vector<std::uint32_t> reader_;  // global lane per pipe
  std::vector<std::uint32_t> writer_;
  std::vector<std::vector<PipeId>> ends_;              // per global lane: the pipes of its steps, one after the other
  std::vector<std::vector<std::uint32_t>> first_end_;  // per global lane and step
};

}  // namespace tutti::plan

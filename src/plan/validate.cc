#include "plan/validate.h"

#include <fmt/format.h>

namespace tutti::plan {

namespace {

class Validation {
 public:
  explicit Validation(const Plan& plan) : plan_(plan) {}

  std::optional<Fault> run() {
    if (auto fault = check_header()) return fault;
    for (rank_ = 0; rank_ < plan_.ranks; ++rank_) {
      const Program& program = plan_.programs[static_cast<std::size_t>(rank_)];
      for (lane_ = 0; lane_ < program.lanes.size(); ++lane_) {
        const Lane& lane = program.lanes[lane_];
        for (step_ = 0; step_ < lane.size(); ++step_) {
          if (auto fault = check_step(program, lane, lane[step_])) return fault;
        }
      }
    }
    return std::nullopt;
  }

 private:
  template <class... Args>
  std::optional<Fault> fault(fmt::format_string<Args...> text, Args&&... args) const {
    return Fault{FaultKind::malformed, rank_, lane_, step_, fmt::format(text, std::forward<Args>(args)...)};
  }

  bool is_rank(Rank rank) const { return rank >= 0 && rank < plan_.ranks; }

  std::optional<Fault> check_header() const {
    const auto ranks = static_cast<std::size_t>(plan_.ranks);
    if (plan_.ranks < 1 || plan_.programs.size() != ranks) {
      return fault("the plan says {} ranks and has {} programs", plan_.ranks, plan_.programs.size());
    }
    if (!is_rank(plan_.root) || !is_rank(plan_.peer))
      return fault("root {} or peer {} is not a rank", plan_.root, plan_.peer);
    if (plan_.slots < 1) return fault("a pipe needs at least one slot");
    if (has_blocks(plan_.collective) && plan_.chunks % ranks != 0) {
      return fault("{} chunks do not divide into a block for each of {} ranks", plan_.chunks, ranks);
    }
    if (plan_.domain_of.size() != (plan_.reach == Reach::none ? 0 : ranks)) {
      return fault("reach {} is given for {} of {} ranks", name_of(plan_.reach), plan_.domain_of.size(), ranks);
    }
    return std::nullopt;
  }

  std::optional<Fault> check_step(const Program& program, const Lane& lane, const Step& step) const {
    const auto is_peer = [&](Rank rank) { return is_rank(rank) && rank != rank_; };
    for (const Rank peer : {step.receive_from, step.send_to}) {
      if (peer != kNoRank && !is_peer(peer)) return fault("{} is not another rank", peer);
    }
    for (const auto& list : {lane.waits(step), lane.signals(step)}) {
      for (const Rank peer : list) {
        if (!is_peer(peer)) return fault("exchanges a token with {}, which is not another rank", peer);
      }
    }
    for (const Point& point : lane.after(step)) {
      if (point.lane >= program.lanes.size() || point.lane == lane_ || point.step >= program.lanes[point.lane].size()) {
        return fault("comes after step {}.{}, which is not a step of another lane", point.lane, point.step);
      }
    }
    if (!step.has_value() && (step.target_count > 0 || step.send_to != kNoRank || step.finish)) {
      return fault("stores, sends or finishes a value but neither receives nor loads one");
    }
    if (step.finish && !reduces(plan_.collective))
      return fault("finishes a sum, but {} adds nothing up", name_of(plan_.collective));
    for (const Slice& source : lane.sources(step)) {
      if (auto found = check_load(source)) return found;
    }
    for (const Slice& target : lane.targets(step)) {
      if (auto found = check_store(target)) return found;
    }
    return std::nullopt;
  }

  std::optional<Fault> check_load(const Slice& source) const {
    if (auto found = check_slice(source)) return found;
    if (plan_.may_load(rank_, source)) return std::nullopt;
    return fault("loads {}, but reach {} does not allow it: others' in and out need reach load", print(source, rank_),
                 name_of(plan_.reach));
  }

  std::optional<Fault> check_store(const Slice& target) const {
    if (target.buffer == Buffer::in) return fault("stores to {}: inputs are read only", print(target, rank_));
    if (auto found = check_slice(target)) return found;
    if (plan_.may_store(rank_, target)) return std::nullopt;
    return fault("stores to {}, but reach {} does not allow it: others' out needs reach full", print(target, rank_),
                 name_of(plan_.reach));
  }

  std::optional<Fault> check_slice(const Slice& slice) const {
    if (!is_rank(slice.owner))
      return fault("{} belongs to rank {}, which does not exist", print(slice, rank_), slice.owner);
    if (slice.buffer == Buffer::stage && plan_.reach == Reach::none) {
      return fault("uses {}, but without reach there are no stages", print(slice, rank_));
    }
    if (slice.owner != rank_ && slice.buffer == Buffer::scratch) {
      return fault("reaches {}: scratch is private to its lane", print(slice, rank_));
    }
    if (!plan_.shares_domain(rank_, slice.owner)) {
      return fault("reaches {}, but the memory of rank {} cannot be reached from rank {}", print(slice, rank_),
                   slice.owner, rank_);
    }
    const std::uint64_t last = slice.chunk + (std::uint64_t{slice.count} - 1) * slice.stride;
    if (slice.count > 0 && (slice.stride == 0 || last >= plan_.chunks)) {
      return Fault{FaultKind::out_of_bounds, rank_, lane_, step_,
                   fmt::format("{} goes beyond the {} chunks of the plan", print(slice, rank_), plan_.chunks)};
    }
    return std::nullopt;
  }

  const Plan& plan_;
  Rank rank_ = 0;
  std::uint32_t lane_ = 0;
  std::uint32_t step_ = 0;
};

}  // namespace

std::optional<Fault> validate_structure(const Plan& plan) { return Validation(plan).run(); }

}  // namespace tutti::plan

#include "tutti/check.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <memory>

#include "plan/check/clocks.h"
#include "plan/check/memory.h"
#include "plan/check/promise.h"
#include "plan/check/sums.h"
#include "plan/validate.h"
#include "plan/wiring.h"

namespace tutti::plan {

std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::malformed: return "malformed";
    case FaultKind::deadlock: return "deadlock";
    case FaultKind::race: return "race";
    case FaultKind::unread: return "unread message";
    case FaultKind::wrong_value: return "wrong value";
    case FaultKind::out_of_bounds: return "out of bounds";
    case FaultKind::lifetime: return "lifetime";
  }
  return "unknown";
}

std::string Fault::text() const {
  return fmt::format("rank {} lane {} step {}: {}: {}", rank, lane, step, name_of(kind), reason);
}

namespace {

// Walks the plan once with symbolic values and clocks. Which send meets which receive, and therefore what happens
// before what, is the same in every execution, so this one walk proves all of them.
class Checker {
 public:
  Checker(const Plan& plan, CheckOptions options)
      : plan_(plan),
        wiring_(plan),
        sums_(plan.ranks),
        memory_(plan, options.in_place, wiring_.lane_count(), sums_),
        pipes_(wiring_.pipe_count()) {
    if (needs_clocks(options.in_place)) clocks_ = std::make_unique<Clocks>(wiring_.lane_count());
    reached_.resize(wiring_.lane_count());
    collect_points();
  }

  std::variant<Proof, Fault> run() {
    const auto stuck = wiring_.walk(plan_.slots, [this](const Visit& visit) { return step(visit); });
    if (fault_) return *fault_;
    if (stuck) return *stuck;
    check_unread();
    check_outputs();
    check_lifetimes();
    check_barrier();
    if (fault_) return *fault_;
    proof_.slots = least_slots();
    return proof_;
  }

 private:
  struct Message {
    bool is_token;
    std::vector<SumId> value;  // per chunk
    Clocks::Snapshot clock;
  };

  // Where every chunk is touched by one lane alone nothing can race, and the clocks, most of the work, are not needed.
  bool needs_clocks(bool in_place) const {
    if (plan_.collective == Collective::barrier) return true;
    constexpr std::uint32_t kNobody = ~0u;
    std::vector<std::uint32_t> toucher;
    for (Rank rank = 0; rank < plan_.ranks; ++rank) {
      const Program& program = plan_.programs[static_cast<std::size_t>(rank)];
      toucher.assign(std::size_t{3} * plan_.chunks, kNobody);
      for (std::uint32_t lane = 0; lane < program.lanes.size(); ++lane) {
        const bool shares = touches(program.lanes[lane], [&](const Slice& slice, std::uint32_t chunk) {
          if (slice.owner != rank) return true;
          const std::size_t area = slice.buffer == Buffer::stage ? 2 : slice.buffer == Buffer::out && !in_place ? 1 : 0;
          std::uint32_t& first = toucher[chunk + area * plan_.chunks];
          const bool is_shared = first != kNobody && first != lane;
          first = lane;
          return is_shared;
        });
        if (shares) return true;
      }
    }
    return false;
  }

  // Whether `found` says so of any chunk of in, out or stage that the lane touches.
  template <class Found>
  static bool touches(const Lane& lane, Found found) {
    for (std::size_t i = 0; i < lane.size(); ++i) {
      for (const auto& slices : {lane.sources(lane[i]), lane.targets(lane[i])}) {
        for (const Slice& slice : slices) {
          for (std::uint32_t c = 0; c < slice.count && slice.buffer != Buffer::scratch; ++c) {
            if (found(slice, slice.at(c))) return true;
          }
        }
      }
    }
    return false;
  }

  void collect_points() {
    if (!clocks_) return;
    for (Rank rank = 0; rank < plan_.ranks; ++rank) {
      for (const Lane& lane : plan_.programs[static_cast<std::size_t>(rank)].lanes) {
        for (std::size_t i = 0; i < lane.size(); ++i) {
          for (const Point& point : lane.after(lane[i]))
            points_[{wiring_.global_lane(rank, point.lane), point.step}] = {};
        }
      }
    }
  }

  bool fail(FaultKind kind, std::string reason) {
    if (!fault_) fault_ = Fault{kind, visit_->rank, visit_->lane, visit_->step, std::move(reason)};
    return false;
  }
  void fail_at_end(FaultKind kind, Rank rank, Access at, std::string reason) {
    if (fault_) return;
    const auto lane = at.global_lane - wiring_.global_lane(rank, 0);
    fault_ = Fault{kind, rank, lane, at.step, std::move(reason)};
  }

  bool step(const Visit& visit) {
    visit_ = &visit;
    const Lane& lane = plan_.programs[static_cast<std::size_t>(visit.rank)].lanes[visit.lane];
    const Step& step = lane[visit.step];
    ++proof_.steps;
    value_.clear();
    has_value_ = false;
    copied_from_ = is_plain_copy(lane, step) ? &lane.sources(step)[0] : nullptr;
    if (!take(lane, step)) return false;
    if (clocks_) clocks_->advance(visit.global_lane, visit.step + 1);
    for (const Slice& source : lane.sources(step)) {
      if (!load(source)) return false;
    }
    if (step.finish && !finish()) return false;
    for (const Slice& target : lane.targets(step)) {
      if (!store(target)) return false;
    }
    give(step);
    if (const auto point = points_.find({visit.global_lane, visit.step}); point != points_.end()) {
      point->second = clocks_->take(visit.global_lane);
    }
    return true;
  }

  // Inputs of a reduction are not copied but scaled, where the operation says so.
  bool is_plain_copy(const Lane& lane, const Step& step) const {
    if (step.receive_from != kNoRank || step.source_count != 1 || step.finish) return false;
    return !reduces(plan_.collective) || lane.sources(step)[0].buffer != Buffer::in;
  }

  bool take(const Lane& lane, const Step& step) {
    for (const Point& point : lane.after(step)) {
      if (clocks_)
        clocks_->join(visit_->global_lane, points_[{wiring_.global_lane(visit_->rank, point.lane), point.step}]);
    }
    for (std::size_t i = 0; i < visit_->takes.size(); ++i) {
      const PipeId pipe = visit_->takes[i];
      Message message = std::move(pipes_[pipe].front());
      pipes_[pipe].pop_front();
      const bool wants_token = i < step.wait_count;
      if (message.is_token != wants_token) {
        return fail(FaultKind::wrong_value, fmt::format("takes a {} from rank {} but the next message there is a {}",
                                                        wants_token ? "token" : "value", wiring_.pipe(pipe).from,
                                                        wants_token ? "value" : "token"));
      }
      if (clocks_) {
        clocks_->join(visit_->global_lane, message.clock);
        clocks_->give_back(std::move(message.clock));
      }
      if (!wants_token) {
        value_ = std::move(message.value);
        has_value_ = true;
      }
    }
    return true;
  }

  void give(const Step& step) {
    for (std::size_t i = 0; i < visit_->gives.size(); ++i) {
      const bool is_token = step.send_to == kNoRank || i > 0;
      Message message{is_token, {}, {}};
      if (!is_token) message.value = value_;
      if (clocks_) message.clock = clocks_->take(visit_->global_lane);
      pipes_[visit_->gives[i]].push_back(std::move(message));
      ++proof_.messages;
    }
  }

  // Bounds and lifetime of a slice, and as many chunks as the value has.
  bool admit(const Slice& slice, bool is_target) {
    if (slice.owner != visit_->rank && slice.count > 0) {
      ++proof_.reaches;
      // A stage outlives the call, and what is loaded from it was stored there in this tile: the race rule says when.
      if (slice.buffer != Buffer::stage && !has_entered(slice.owner)) {
        return fail(FaultKind::lifetime, fmt::format("reaches {} but no token says that rank {} has entered the call",
                                                     print(slice, visit_->rank), slice.owner));
      }
      if (slice.buffer != Buffer::stage) note_reach(slice.owner);
    }
    if (has_value_ && slice.count != value_.size()) {
      return fail(FaultKind::wrong_value, fmt::format("{} has {} chunks but the value has {}",
                                                      print(slice, visit_->rank), slice.count, value_.size()));
    }
    for (std::uint32_t i = 0; i < slice.count; ++i) {
      const bool is_callers = slice.buffer == Buffer::in || slice.buffer == Buffer::out;
      if (is_callers && !has_chunk(plan_, slice.owner, slice.buffer, slice.at(i))) {
        return fail(FaultKind::out_of_bounds,
                    fmt::format("{} {}[{}] of rank {}, which does not exist in {}", is_target ? "stores to" : "loads",
                                name_of(slice.buffer), slice.at(i), slice.owner, name_of(plan_.collective)));
      }
    }
    return true;
  }

  bool load(const Slice& source) {
    if (!admit(source, false)) return false;
    const bool is_first = !has_value_;
    if (is_first) value_.resize(source.count);
    has_value_ = true;
    for (std::uint32_t i = 0; i < source.count; ++i) {
      SumId loaded = kNothing;
      if (source.buffer == Buffer::scratch) {
        loaded = memory_.scratch(visit_->global_lane, source.at(i));
      } else {
        auto& cell = memory_.cell(source.owner, source.buffer, source.at(i));
        if (const auto racing = Memory::read(cell, here(), clocks_.get())) return race(source, i, *racing, "reads");
        loaded = cell.value;
        if (source.buffer == Buffer::in && cell.is_stored_to) {
          return fail(FaultKind::wrong_value,
                      fmt::format("loads in[{}] of rank {} after out[{}], which is the same place, "
                                  "was stored to",
                                  source.at(i), source.owner, source.at(i)));
        }
      }
      if (loaded == kNothing) {
        return fail(FaultKind::wrong_value, fmt::format("loads {}[{}] of rank {} before anything is stored there",
                                                        name_of(source.buffer), source.at(i), source.owner));
      }
      if (is_first) {
        value_[i] = loaded;
        continue;
      }
      auto sum = sums_.add(value_[i], loaded);
      if (auto* why = std::get_if<std::string>(&sum)) return fail(FaultKind::wrong_value, std::move(*why));
      value_[i] = std::get<SumId>(sum);
    }
    return true;
  }

  bool finish() {
    for (SumId& id : value_) {
      auto sum = sums_.finish(id);
      if (auto* why = std::get_if<std::string>(&sum)) return fail(FaultKind::wrong_value, std::move(*why));
      id = std::get<SumId>(sum);
    }
    return true;
  }

  bool store(const Slice& target) {
    if (!admit(target, true)) return false;
    for (std::uint32_t i = 0; i < target.count; ++i) {
      if (target.buffer == Buffer::scratch) {
        memory_.scratch(visit_->global_lane, target.at(i)) = value_[i];
        continue;
      }
      if (target.buffer == Buffer::out && !fits(value_[i], promise_of(plan_, target.owner, target.at(i)))) {
        return fail(FaultKind::wrong_value,
                    fmt::format("stores {} in out[{}] of rank {}", sums_.text(value_[i]), target.at(i), target.owner));
      }
      auto& cell = memory_.cell(target.owner, target.buffer, target.at(i));
      // Copying a chunk to where it lies, as in place happens, touches nothing.
      if (copied_from_ != nullptr && &cell == cell_of(*copied_from_, i)) continue;
      if (const auto racing = Memory::write(cell, here(), clocks_.get())) return race(target, i, *racing, "writes");
      cell.value = value_[i];
      cell.is_stored_to = true;
    }
    return true;
  }

  // Chunks differ in size, and in all_to_all chunks of one number do too, by rank: so even for a moment an output holds
  // no other chunk than its own.
  bool fits(SumId value, const Promise& promise) {
    if (promise.source == kNoRank) return sums_.chunk_of(value) == promise.source_chunk;
    return value == sums_.contribution(promise.source, promise.source_chunk);
  }

  const Memory::Cell* cell_of(const Slice& slice, std::uint32_t i) {
    return slice.buffer == Buffer::scratch ? nullptr : &memory_.cell(slice.owner, slice.buffer, slice.at(i));
  }

  Access here() const { return {visit_->global_lane, visit_->step}; }

  bool race(const Slice& slice, std::uint32_t i, const Access& other, std::string_view verb) {
    const Rank rank = wiring_.rank_of(other.global_lane);
    return fail(FaultKind::race, fmt::format("{} {}[{}] of rank {} while rank {} lane {} step {} may be at it: nothing "
                                             "orders the two",
                                             verb, name_of(slice.buffer), slice.at(i), slice.owner, rank,
                                             other.global_lane - wiring_.global_lane(rank, 0), other.step));
  }

  std::uint32_t lanes_of(Rank rank) const {
    return static_cast<std::uint32_t>(plan_.programs[static_cast<std::size_t>(rank)].lanes.size());
  }

  bool has_entered(Rank owner) const {
    for (std::uint32_t lane = 0; lane < lanes_of(owner); ++lane) {
      if (clocks_->known(visit_->global_lane, wiring_.global_lane(owner, lane)) > 0) return true;
    }
    return false;
  }

  void note_reach(Rank owner) {
    auto& mine = reached_[visit_->global_lane];
    if (mine.empty() || mine.back().first != owner) {
      for (auto& [rank, step] : mine) {
        if (rank == owner) {
          step = visit_->step;
          return;
        }
      }
      mine.emplace_back(owner, visit_->step);
    }
    mine.back().second = visit_->step;
  }

  // Whether some lane of the rank knows, when it ends, that the access is over.
  bool knows_at_end(Rank rank, const Access& access) const {
    for (std::uint32_t lane = 0; lane < lanes_of(rank); ++lane) {
      if (clocks_->known(wiring_.global_lane(rank, lane), access.global_lane) > access.step) return true;
    }
    return false;
  }

  void check_unread() {
    if (const auto pipe = wiring_.unread_pipe()) {
      const auto& [from, to, lane] = wiring_.pipe(*pipe);
      const auto steps = plan_.programs[static_cast<std::size_t>(from)].lanes[lane].size();
      fail_at_end(FaultKind::unread, from, {wiring_.global_lane(from, lane), static_cast<std::uint32_t>(steps - 1)},
                  fmt::format("when all steps have run, a message to rank {} has not been taken", to));
    }
  }

  void check_outputs() {
    for (Rank rank = 0; rank < plan_.ranks && !fault_; ++rank) {
      for (std::uint32_t chunk = 0; chunk < plan_.chunks && !fault_; ++chunk) {
        if (!has_chunk(plan_, rank, Buffer::out, chunk)) continue;
        const Promise promise = promise_of(plan_, rank, chunk);
        const SumId wanted = promise.source == kNoRank ? sums_.complete(promise.source_chunk)
                                                       : sums_.contribution(promise.source, promise.source_chunk);
        const SumId found = memory_.cell(rank, Buffer::out, chunk).value;
        if (found == wanted) continue;
        fault_ = Fault{
            FaultKind::wrong_value, rank, 0, 0,
            fmt::format("in the end out[{}] holds {} instead of {}", chunk, sums_.text(found), sums_.text(wanted))};
      }
    }
  }

  void check_lifetimes() {
    for (std::uint32_t global = 0; global < reached_.size() && !fault_; ++global) {
      for (const auto& [owner, step] : reached_[global]) {
        if (knows_at_end(owner, {global, step})) continue;
        fail_at_end(
            FaultKind::lifetime, wiring_.rank_of(global), {global, step},
            fmt::format("touches memory of rank {}, which may leave the call before: no token tells it", owner));
        return;
      }
    }
  }

  void check_barrier() {
    if (plan_.collective != Collective::barrier) return;
    for (Rank rank = 0; rank < plan_.ranks && !fault_; ++rank) {
      for (Rank other = 0; other < plan_.ranks && !fault_; ++other) {
        bool knows = rank == other;
        for (std::uint32_t lane = 0; lane < lanes_of(other) && !knows; ++lane) {
          knows = knows_at_end(rank, {wiring_.global_lane(other, lane), 0});
        }
        if (!knows) {
          fault_ = Fault{FaultKind::wrong_value, rank, 0, 0,
                         fmt::format("leaves the barrier without a sign of rank {}", other)};
        }
      }
    }
  }

  std::uint32_t least_slots() const {
    for (std::uint32_t slots = 1; slots < plan_.slots; ++slots) {
      if (!wiring_.walk(slots, [](const Visit&) { return true; })) return slots;
    }
    return plan_.slots;
  }

  const Plan& plan_;
  Wiring wiring_;
  Sums sums_;
  Memory memory_;
  std::vector<std::deque<Message>> pipes_;
  std::unique_ptr<Clocks> clocks_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Clocks::Snapshot> points_;  // what `after` passes on
  std::vector<std::vector<std::pair<Rank, std::uint32_t>>> reached_;            // per lane: owner, last step
  const Visit* visit_ = nullptr;
  const Slice* copied_from_ = nullptr;  // the only source of a step that does nothing but copy
  std::vector<SumId> value_;
  bool has_value_ = false;
  std::optional<Fault> fault_;
  Proof proof_;
};

// The clocks take lanes * lanes numbers, the memory one cell per rank and chunk.
constexpr std::size_t kLanesMax = 16384;
constexpr std::uint64_t kCellsMax = std::uint64_t{1} << 24;

std::optional<Fault> check_size(const Plan& plan) {
  std::size_t lanes = 0;
  for (const Program& program : plan.programs) lanes += program.lanes.size();
  if (lanes <= kLanesMax && std::uint64_t{plan.chunks} * static_cast<std::uint64_t>(plan.ranks) <= kCellsMax)
    return std::nullopt;
  return Fault{FaultKind::malformed, 0, 0, 0,
               fmt::format("{} lanes and {} chunks on {} ranks are more than can be checked (at most {} lanes)", lanes,
                           plan.chunks, plan.ranks, kLanesMax)};
}

}  // namespace

std::variant<Proof, Fault> check(const Plan& plan, CheckOptions options) {
  if (auto fault = validate_structure(plan)) return *fault;
  if (auto fault = check_size(plan)) return *fault;
  return Checker(plan, options).run();
}

}  // namespace tutti::plan

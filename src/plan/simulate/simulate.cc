#include "tutti/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <queue>
#include <unordered_map>

#include "plan/simulate/flows.h"
#include "plan/validate.h"
#include "plan/wiring.h"

namespace tutti::plan {

namespace {

constexpr std::size_t kBusiestLinks = 16;

// Lanes begin a step when what it takes has arrived and what it gives has room, as the step rule says. Its loads and
// stores are one transfer, with streams over the rank's own memory and over the routes to those it reaches; what it
// sends starts at the same time (memory is read once, cut through) and arrives when both the step and the transfer are
// over. A pipe carries its messages one after the other. A tile goes through a lane before the next one starts.
class Simulation {
 public:
  Simulation(const Plan& plan, const Model& model, const SimulateOptions& options)
      : plan_(plan), model_(model), options_(options), wiring_(plan), flows_(model), pipes_(wiring_.pipe_count()) {
    const Layout layout = even_maps(plan, options.elements)[0].in;  // the same on every rank
    number_neighbours();
    tile_elements_ = std::max<std::uint64_t>(1, options.tile_bytes / std::max<std::uint32_t>(1, options.element_bytes));
    std::uint64_t largest = 0;
    for (std::uint32_t chunk = 0; chunk < plan.chunks; ++chunk) {
      sizes_.push_back(layout.of(chunk).elements);
      largest = std::max(largest, sizes_.back());
    }
    tiles_ = std::max<std::uint64_t>(1, (largest + tile_elements_ - 1) / tile_elements_);
    for (Rank rank = 0; rank < plan.ranks; ++rank) {
      for (const Lane& lane : plan.programs[static_cast<std::size_t>(rank)].lanes) lanes_.push_back({.lane = &lane});
    }
    for (PipeId id = 0; id < pipes_.size(); ++id) {
      const auto& [from, to, lane] = wiring_.pipe(id);
      pipes_[id].route = &route(from, to, lane);
    }
    crossing_of_.assign(model.link_count(), 0);
    timeline_.rank_end_s.assign(static_cast<std::size_t>(plan.ranks), 0);
  }

  Result<Timeline> run() {
    for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) try_begin(lane);
    for (;;) {
      const double flow_time = flows_.next_time();
      const double event_time = events_.empty() ? std::numeric_limits<double>::infinity() : events_.top().time;
      now_ = std::min(flow_time, event_time);
      if (now_ == std::numeric_limits<double>::infinity()) break;
      flows_.finish_until(now_, [this](std::uint64_t owner) { end_transfer(owner); });
      while (!events_.empty() && events_.top().time <= now_) {
        const Event event = events_.top();
        events_.pop();
        ++timeline_.events;
        event.is_delivery ? deliver(event.id) : end_step(event.id);
      }
    }
    for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
      if (is_done(lanes_[lane])) continue;
      return invalid_argument(fmt::format("step {} of a lane of rank {} can never run; 'tutti plan check' says why",
                                          lanes_[lane].step, wiring_.rank_of(lane)));
    }
    return summarize();
  }

 private:
  // What a lane waits for, beside a pipe: only a change there makes it worth another try.
  static constexpr PipeId kNothing = ~PipeId{0};
  static constexpr PipeId kPoint = kNothing - 1;

  struct LaneState {
    const Lane* lane;
    std::uint32_t step = 0;
    std::uint32_t tile = 0;
    bool is_open = false;
    double begin_s = 0;
    double latency_s = 0;         // of the reads of the open step
    PipeId waits_for = kNothing;  // why it could not begin when it last tried
  };
  struct Message {
    double bytes;           // 0: a token
    bool is_sent = false;   // the transfer is over
    bool is_whole = false;  // the step is over
  };
  // Messages stay from the begin of the step that sends them to the end of the step that takes them, oldest first; the
  // first `departed` of them have left the sender and the first `arrived` of these are there. Few: a vector.
  struct Pipe {
    const Route* route = nullptr;
    std::uint32_t departed = 0;
    std::uint32_t arrived = 0;
    std::vector<Message> messages = {};
  };
  struct Event {
    double time;
    std::uint64_t order;  // events of one instant in the order they were made
    std::uint32_t id;     // lane or pipe
    bool is_delivery;
    bool operator>(const Event& other) const { return time != other.time ? time > other.time : order > other.order; }
  };
  static constexpr std::uint64_t kRouteLanes = 64;  // lanes take turns at cards, of which no device has as many
  // Whose transfer: a lane's, or (with this bit) a pipe's.
  static constexpr std::uint64_t kPipeBit = std::uint64_t{1} << 32;

  bool is_done(const LaneState& state) const { return state.lane->empty() || state.tile == tiles_; }

  // Where each rank stands among those of its domain: routes there are asked for in every step, so they have a table.
  void number_neighbours() {
    std::unordered_map<std::uint32_t, std::uint32_t> sizes;
    const auto ranks = static_cast<std::size_t>(plan_.ranks);
    const auto domain_of = [&](std::size_t rank) {
      return plan_.domain_of.empty() ? static_cast<std::uint32_t>(rank) : plan_.domain_of[rank];
    };
    for (std::size_t rank = 0; rank < ranks; ++rank) place_.push_back(sizes[domain_of(rank)]++);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      first_neighbour_.push_back(neighbour_count_);
      neighbour_count_ += sizes[domain_of(rank)];
    }
  }

  const Route& route(Rank from, Rank to, std::uint32_t lane) {
    if (!plan_.shares_domain(from, to)) return far_route(from, to, lane);
    if (lane >= near_.size()) near_.resize(lane + 1);
    if (near_[lane].empty()) near_[lane].resize(neighbour_count_, nullptr);
    const Route*& known =
        near_[lane][first_neighbour_[static_cast<std::size_t>(from)] + place_[static_cast<std::size_t>(to)]];
    if (known == nullptr) known = &far_route(from, to, lane);
    return *known;
  }

  const Route& far_route(Rank from, Rank to, std::uint32_t lane) {
    const std::uint64_t ends = std::uint64_t{static_cast<std::uint32_t>(from)} << 32 | static_cast<std::uint32_t>(to);
    auto [entry, is_new] = routes_.try_emplace(ends * kRouteLanes + lane % kRouteLanes);
    if (is_new) entry->second = model_.route(from, to, lane);
    return entry->second;
  }

  double bytes_of(const Slice& slice, std::uint32_t tile) const {
    std::uint64_t elements = 0;
    const std::uint64_t begin = tile * tile_elements_;
    for (std::uint32_t i = 0; i < slice.count; ++i) {
      const std::uint64_t size = sizes_[slice.at(i)];
      if (size > begin) elements += std::min(size - begin, tile_elements_);
    }
    return static_cast<double>(elements * options_.element_bytes);
  }

  // What keeps the next step from beginning; kNothing: it can.
  PipeId obstacle(const LaneState& state, const Visit& visit) const {
    for (const Point& point : state.lane->after((*state.lane)[state.step])) {
      const LaneState& other = lanes_[wiring_.global_lane(visit.rank, point.lane)];
      if (std::pair(other.tile, other.step) <= std::pair(state.tile, point.step)) return kPoint;
    }
    // A step may take or give several messages of one pipe: as many as the pipe stands in the list up to there.
    const auto needed = [](std::span<const PipeId> list, std::size_t i) {
      return static_cast<std::size_t>(
          std::count(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i) + 1, list[i]));
    };
    for (std::size_t i = 0; i < visit.takes.size(); ++i) {
      if (pipes_[visit.takes[i]].arrived < needed(visit.takes, i)) return visit.takes[i];
    }
    for (std::size_t i = 0; i < visit.gives.size(); ++i) {
      if (pipes_[visit.gives[i]].messages.size() + needed(visit.gives, i) > plan_.slots) return visit.gives[i];
    }
    return kNothing;
  }

  void try_begin(std::uint32_t lane) {
    LaneState& state = lanes_[lane];
    if (state.is_open || is_done(state)) return;
    const Visit visit = wiring_.visit_of(lane, state.step);
    state.waits_for = obstacle(state, visit);
    if (state.waits_for != kNothing) return;
    const Step& step = (*state.lane)[state.step];
    state.is_open = true;
    state.begin_s = now_;
    state.latency_s = 0;
    const double value_bytes = start_memory(state, visit, step);
    for (std::size_t i = 0; i < visit.gives.size(); ++i) {
      Pipe& pipe = pipes_[visit.gives[i]];
      const bool is_value = step.send_to != kNoRank && i == 0;
      pipe.messages.push_back({.bytes = is_value ? value_bytes : 0});
      if (pipe.messages.size() == pipe.departed + 1) start_message(visit.gives[i]);
    }
  }

  // Starts the loads and stores of a step; it ends when they do. Returns the size of the value.
  double start_memory(LaneState& state, const Visit& visit, const Step& step) {
    double value_bytes = 0;
    std::uint32_t own_streams = 0;
    if (step.receive_from != kNoRank) {
      const PipeId pipe = visit.takes.back();
      const auto before = std::count(visit.takes.begin(), visit.takes.end() - 1, pipe);
      value_bytes = pipes_[pipe].messages[static_cast<std::size_t>(before)].bytes;
      ++own_streams;
    }
    for (const Slice& source : state.lane->sources(step)) {
      if (source.owner == visit.rank) {
        ++own_streams;
        continue;
      }
      const Route& way = route(source.owner, visit.rank, visit.lane);
      state.latency_s = std::max(state.latency_s, way.latency_s);
      add_streams(way, 1);
    }
    if (step.source_count > 0) value_bytes = bytes_of(state.lane->sources(step)[0], state.tile);
    for (const Slice& target : state.lane->targets(step)) {
      if (target.owner == visit.rank) {
        ++own_streams;
      } else {
        add_streams(route(visit.rank, target.owner, visit.lane), 1);
      }
    }
    if (own_streams > 0) add_streams(route(visit.rank, visit.rank, visit.lane), own_streams);
    if (value_bytes > 0) {
      flows_.start(now_, crossings_, value_bytes, visit.global_lane);
    } else {
      schedule_end(visit.global_lane);
    }
    for (const Flows::Crossing& crossing : crossings_) crossing_of_[crossing.link] = 0;
    crossings_.clear();
    return value_bytes;
  }

  void add_streams(const Route& way, std::uint32_t streams) {
    for (const std::uint32_t link : way.links) {
      std::uint32_t& place = crossing_of_[link];
      if (place == 0) {
        crossings_.push_back({link, 0});
        place = static_cast<std::uint32_t>(crossings_.size());
      }
      crossings_[place - 1].streams += streams;
    }
  }

  void start_message(PipeId id) {
    Pipe& pipe = pipes_[id];
    Message& message = pipe.messages[pipe.departed];
    if (message.bytes <= 0) {
      message.is_sent = true;
    } else {
      crossings_.clear();
      for (const std::uint32_t link : pipe.route->links) crossings_.push_back({link, 1});
      flows_.start(now_, crossings_, message.bytes, kPipeBit | id);
      crossings_.clear();
    }
  }

  void end_transfer(std::uint64_t owner) {
    ++timeline_.events;
    const auto id = static_cast<std::uint32_t>(owner);
    if ((owner & kPipeBit) != 0) {
      pipes_[id].messages[pipes_[id].departed].is_sent = true;
      pass_on(id);
    } else {
      schedule_end(id);
    }
  }

  void schedule_end(std::uint32_t lane) {
    events_.push({now_ + model_.step_s() + lanes_[lane].latency_s, order_++, lane, false});
  }

  // Messages that are whole and sent are on their way; the next one may start.
  void pass_on(PipeId id) {
    Pipe& pipe = pipes_[id];
    while (pipe.departed < pipe.messages.size()) {
      const Message& message = pipe.messages[pipe.departed];
      if (!message.is_sent || !message.is_whole) return;
      ++pipe.departed;
      events_.push({now_ + pipe.route->latency_s, order_++, id, true});
      if (pipe.departed < pipe.messages.size()) start_message(id);
    }
  }

  void deliver(PipeId id) {
    ++pipes_[id].arrived;
    wake(wiring_.reader(id), id);
  }

  void wake(std::uint32_t lane, PipeId changed) {
    if (lane < lanes_.size() && lanes_[lane].waits_for == changed) try_begin(lane);
  }

  void end_step(std::uint32_t lane) {
    LaneState& state = lanes_[lane];
    const Visit visit = wiring_.visit_of(lane, state.step);
    if (options_.record_spans) {
      timeline_.spans.push_back({visit.rank, visit.lane, visit.step, state.tile, state.begin_s, now_});
    }
    state.is_open = false;
    if (++state.step == state.lane->size()) {
      state.step = 0;
      ++state.tile;
    }
    if (is_done(state)) timeline_.rank_end_s[static_cast<std::size_t>(visit.rank)] = now_;
    for (const PipeId id : visit.takes) {
      Pipe& pipe = pipes_[id];
      pipe.messages.erase(pipe.messages.begin());
      --pipe.arrived;
      --pipe.departed;
    }
    for (const PipeId id : visit.gives) {
      auto& messages = pipes_[id].messages;
      std::find_if(messages.begin(), messages.end(), [](const Message& m) { return !m.is_whole; })->is_whole = true;
      pass_on(id);
    }
    for (const PipeId id : visit.takes) wake(wiring_.writer(id), id);
    try_begin(lane);
    const auto lanes = plan_.programs[static_cast<std::size_t>(visit.rank)].lanes.size();
    for (std::uint32_t other = 0; other < lanes; ++other) wake(wiring_.global_lane(visit.rank, other), kPoint);
  }

  Timeline summarize() {
    for (double& end : timeline_.rank_end_s) {
      end += model_.launch_s();
      timeline_.total_s = std::max(timeline_.total_s, end);
    }
    timeline_.total_s = std::max(timeline_.total_s, model_.launch_s());
    timeline_.tiles = tiles_;
    std::vector<std::uint32_t> used;
    for (std::uint32_t link = 0; link < model_.link_count(); ++link) {
      if (flows_.bytes(link) > 0) used.push_back(link);
    }
    const auto load = [&](std::uint32_t link) { return flows_.bytes(link) / model_.bytes_per_s(link); };
    const std::size_t shown = std::min(kBusiestLinks, used.size());
    std::partial_sort(used.begin(), used.begin() + static_cast<std::ptrdiff_t>(shown), used.end(),
                      [&](std::uint32_t a, std::uint32_t b) { return load(a) != load(b) ? load(a) > load(b) : a < b; });
    for (std::size_t i = 0; i < shown; ++i) {
      timeline_.busiest.push_back({used[i], model_.link_name(used[i]), flows_.bytes(used[i]), flows_.busy_s(used[i])});
    }
    return std::move(timeline_);
  }

  const Plan& plan_;
  const Model& model_;
  SimulateOptions options_;
  Wiring wiring_;
  Flows flows_;
  std::vector<Pipe> pipes_;
  std::vector<std::uint64_t> sizes_;  // per chunk, in elements
  std::uint64_t tile_elements_ = 1;
  std::uint64_t tiles_ = 1;
  std::vector<LaneState> lanes_;  // in the order of the wiring's global lanes
  std::unordered_map<std::uint64_t, Route> routes_;
  std::vector<std::vector<const Route*>> near_;  // per lane, per rank and neighbour; into routes_
  std::vector<std::size_t> first_neighbour_;     // per rank: where its neighbours begin there
  std::vector<std::uint32_t> place_;             // per rank: its place among its neighbours
  std::size_t neighbour_count_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0;
  double now_ = 0;
  std::vector<Flows::Crossing> crossings_;  // of the transfer being put together
  std::vector<std::uint32_t> crossing_of_;  // per link: its place there, from 1; 0: none
  Timeline timeline_;
};

}  // namespace

Result<Timeline> simulate(const Plan& plan, const Model& model, const SimulateOptions& options) {
  if (auto fault = validate_structure(plan)) return invalid_argument(fault->text());
  constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 50;
  if (options.element_bytes == 0 || options.elements > kBytesMax / options.element_bytes) {
    return invalid_argument(fmt::format("{} elements of {} bytes cannot be simulated; at most 2^50 bytes",
                                        options.elements, options.element_bytes));
  }
  return Simulation(plan, model, options).run();
}

}  // namespace tutti::plan

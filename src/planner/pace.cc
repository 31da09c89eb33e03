#include "planner/pace.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <utility>

#include "plan/wiring.h"

namespace tutti::planner {

namespace {

using namespace plan;

// When a link or a core is free again, and how long it was needed.
struct Resource {
  double free_s = 0;
  double busy_s = 0;
  Rank last = kNoRank;  // of a core: who ran there

  double occupy(double from_s, double for_s) {
    const double begin = std::max(from_s, free_s);
    free_s = begin + for_s;
    busy_s += for_s;
    return begin;
  }
};

struct HostState {
  Resource outgoing;
  Resource incoming;
  std::vector<Resource> cores;  // empty where every rank has its own
  double work_s = 0;
};

using Turn = std::pair<double, std::uint32_t>;  // when a lane could go on

struct PipeState {
  std::vector<double> arrived;  // per message
  std::vector<double> taken;
};

// Steps run in the order of the times at which they could begin. Where ranks contend for a link or a core the first to
// come goes first and keeps it: links are not shared as in the simulator, which is near enough for a choice.
class Walk {
 public:
  Walk(const Cluster& cluster, const Plan& plan, const std::vector<double>& chunk_bytes)
      : cluster_(cluster), machine_(cluster.machine), plan_(plan), chunk_bytes_(chunk_bytes), wiring_(plan) {
    std::map<std::uint32_t, std::size_t> index_of;  // hosts may be numbered in any way
    for (const std::uint32_t host : cluster.host_of) {
      host_of_.push_back(index_of.try_emplace(host, index_of.size()).first->second);
    }
    hosts_.resize(index_of.size());
    std::vector<int> sizes(hosts_.size());
    for (const std::size_t host : host_of_) ++sizes[host];
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      if (sizes[host] > machine_.cores) hosts_[host].cores.resize(static_cast<std::size_t>(machine_.cores));
    }
    ranks_.resize(static_cast<std::size_t>(plan.ranks));
    pipes_.resize(wiring_.pipe_count());
    begin_.resize(wiring_.lane_count(), -1);
    end_.resize(wiring_.lane_count());
    next_.resize(wiring_.lane_count());
    is_queued_.resize(wiring_.lane_count());
  }

  Pace run() {
    for (std::uint32_t lane = 0; lane < wiring_.lane_count(); ++lane) try_queue(lane);
    while (!queue_.empty()) {  // ends: every turn runs a step
      const std::uint32_t lane = queue_.top().second;
      queue_.pop();
      run_step(wiring_.visit_of(lane, static_cast<std::uint32_t>(next_[lane])));
    }
    Pace pace;
    for (std::size_t lane = 0; lane < end_.size(); ++lane) {
      pace.path_s = std::max(pace.path_s, end_[lane]);
      pace.lane_s = std::max(pace.lane_s, end_[lane] - std::max(0.0, begin_[lane]));
    }
    for (const Resource& rank : ranks_) pace.work_s = std::max(pace.work_s, rank.busy_s);
    pace.busy_s = pace.work_s;
    for (const HostState& host : hosts_) {
      const double cores_s = host.cores.empty() ? 0 : host.work_s / static_cast<double>(host.cores.size());
      pace.busy_s = std::max({pace.busy_s, cores_s, host.outgoing.busy_s, host.incoming.busy_s});
    }
    return pace;
  }

 private:
  HostState& host_of(Rank rank) { return hosts_[host_of_[static_cast<std::size_t>(rank)]]; }
  bool is_near(Rank a, Rank b) const {
    return host_of_[static_cast<std::size_t>(a)] == host_of_[static_cast<std::size_t>(b)];
  }

  const Lane& lane_of(std::uint32_t global) const {
    const Rank rank = wiring_.rank_of(global);
    return plan_.programs[static_cast<std::size_t>(rank)].lanes[global - wiring_.global_lane(rank, 0)];
  }

  // Puts the next step of a lane into the queue if everything it takes is on its way.
  void try_queue(std::uint32_t global) {
    if (global >= is_queued_.size() || is_queued_[global] || next_[global] == lane_of(global).size()) return;
    if (const auto ready = find_ready(wiring_.visit_of(global, static_cast<std::uint32_t>(next_[global])))) {
      is_queued_[global] = true;
      queue_.emplace(*ready, global);
    }
  }

  std::optional<double> find_ready(const Visit& visit) const {
    const Lane& lane = lane_of(visit.global_lane);
    double ready = end_[visit.global_lane];
    for (const Point& point : lane.after(lane[visit.step])) {
      const std::uint32_t other = wiring_.global_lane(visit.rank, point.lane);
      if (next_[other] <= point.step) return std::nullopt;
      ready = std::max(ready, end_[other]);
    }
    for (const PipeId pipe : visit.takes) {
      const PipeState& state = pipes_[pipe];
      if (state.taken.size() == state.arrived.size()) return std::nullopt;
      ready = std::max(ready, state.arrived[state.taken.size()]);
    }
    for (const PipeId pipe : visit.gives) {
      const PipeState& state = pipes_[pipe];
      if (state.arrived.size() < plan_.slots) continue;
      const std::size_t before = state.arrived.size() - plan_.slots;  // the message that had the slot
      if (before >= state.taken.size()) return std::nullopt;
      ready = std::max(ready, state.taken[before]);
    }
    return ready;
  }

  void run_step(const Visit& visit) {
    const Lane& lane = lane_of(visit.global_lane);
    const Step& step = lane[visit.step];
    const double ready = *find_ready(visit);
    const double value = value_bytes(lane, step);
    const double begin = begin_step(visit.rank, ready, work_of(visit, lane, step, value));
    const double end = ranks_[static_cast<std::size_t>(visit.rank)].free_s;
    if (begin_[visit.global_lane] < 0) begin_[visit.global_lane] = begin;
    end_[visit.global_lane] = end;
    for (const PipeId pipe : visit.takes) pipes_[pipe].taken.push_back(end);
    for (std::size_t i = 0; i < visit.gives.size(); ++i) {
      deliver(visit.gives[i], end, i == 0 && step.send_to != kNoRank ? value : 0);
    }
    ++next_[visit.global_lane];
    is_queued_[visit.global_lane] = false;
    const auto lanes = plan_.programs[static_cast<std::size_t>(visit.rank)].lanes.size();
    for (std::uint32_t own = 0; own < lanes; ++own) try_queue(wiring_.global_lane(visit.rank, own));
    for (const PipeId pipe : visit.gives) try_queue(wiring_.reader(pipe));
    for (const PipeId pipe : visit.takes) try_queue(wiring_.writer(pipe));
  }

  // A rank does one thing at a time, and where ranks outnumber cores it needs one of them.
  double begin_step(Rank rank, double ready, double work) {
    HostState& host = host_of(rank);
    host.work_s += work;
    Resource& thread = ranks_[static_cast<std::size_t>(rank)];
    if (host.cores.empty()) return thread.occupy(ready, work);
    const auto sooner = [&](const Resource& a, const Resource& b) {
      return std::pair(a.free_s, a.last != rank) < std::pair(b.free_s, b.last != rank);
    };
    Resource& core = *std::min_element(host.cores.begin(), host.cores.end(), sooner);
    if (std::exchange(core.last, rank) != rank) work += machine_.switch_s;
    const double begin = core.occupy(std::max(ready, thread.free_s), work);
    thread.occupy(begin, work);
    return begin;
  }

  void deliver(PipeId id, double sent, double bytes) {
    const auto& [from, to, lane] = wiring_.pipe(id);
    double arrived = sent + machine_.signal_s;
    if (!is_near(from, to)) {
      // The first bytes are under way, and the other side reads them, while the last are still handed over.
      const double wire_s = bytes / cluster_.network_bytes_per_s;
      const double copy_s = bytes / cluster_.socket_bytes_per_s;
      const double departs = host_of(from).outgoing.occupy(sent - copy_s, wire_s);
      const double last = std::max(sent, host_of(to).incoming.occupy(departs, wire_s) + wire_s);
      arrived = std::max(departs, last - copy_s) + cluster_.network_latency_s;
    }
    pipes_[id].arrived.push_back(arrived);
  }

  double value_bytes(const Lane& lane, const Step& step) const {
    if (step.source_count > 0) return bytes_of(lane.sources(step)[0]);
    return step.target_count > 0 ? bytes_of(lane.targets(step)[0]) : 0;
  }

  double bytes_of(const Slice& slice) const {
    double bytes = 0;
    for (std::uint32_t i = 0; i < slice.count; ++i) bytes += chunk_bytes_[slice.at(i)];
    return bytes;
  }

  double work_of(const Visit& visit, const Lane& lane, const Step& step, double value) const {
    double seconds = machine_.step_s;
    const auto add = [&](std::span<const Slice> slices, double bytes_per_s) {
      for (const Slice& slice : slices) {
        seconds += value / bytes_per_s;
        if (slice.owner != visit.rank) seconds += value / machine_.move_bytes_per_s;
      }
    };
    add(lane.sources(step), machine_.load_bytes_per_s);
    add(lane.targets(step), machine_.store_bytes_per_s);
    for (const PipeId pipe : visit.takes) seconds += hand_over_s(wiring_.pipe(pipe));
    for (const PipeId pipe : visit.gives) seconds += hand_over_s(wiring_.pipe(pipe));
    for (const Rank peer : {step.receive_from, step.send_to}) {
      if (peer == kNoRank) continue;
      const bool near = is_near(visit.rank, peer);
      seconds += near ? machine_.message_s + value / machine_.move_bytes_per_s : value / cluster_.socket_bytes_per_s;
    }
    return seconds;
  }

  double hand_over_s(const Wiring::Pipe& pipe) const {
    return is_near(pipe.from, pipe.to) ? 0 : cluster_.network_message_s;
  }

  const Cluster& cluster_;
  const LocalMachine& machine_;
  const Plan& plan_;
  const std::vector<double>& chunk_bytes_;
  Wiring wiring_;
  std::vector<std::size_t> host_of_;  // per rank
  std::vector<HostState> hosts_;
  std::vector<Resource> ranks_;
  std::vector<PipeState> pipes_;
  std::vector<double> begin_;  // per lane of the plan
  std::vector<double> end_;
  std::vector<std::size_t> next_;
  std::vector<bool> is_queued_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> queue_;
};

}  // namespace

Pace pace_of(const Cluster& cluster, const Plan& plan, const std::vector<double>& chunk_bytes) {
  return Walk(cluster, plan, chunk_bytes).run();
}

}  // namespace tutti::planner

#include "planner/hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "planner/pace.h"
#include "tutti/chunk_map.h"

namespace tutti::planner {

namespace {

using namespace plan;

// Plans that know no hosts send the same data between them several times. They win at most where there are few ranks.
constexpr Rank kFlatRanksMax = 16;
// Lanes of less than this cost more steps than they win by overlapping.
constexpr double kLaneBytesMin = 32 << 10;
constexpr std::uint64_t kTileQuantum = 64;

constexpr std::size_t kRivalsShown = 4;

// Estimates are no better than this. Of plans that take as long, as far as can be told, the one whose ranks have least
// to do is taken: what is not modelled (other work on the cores, caches) only makes work longer.
constexpr double kAboutAsLong = 1.15;

// A candidate and the work of the rank that has most of it.
struct Rated {
  Candidate candidate;
  double work_s = 0;
};

std::size_t host_count(const Cluster& cluster) {
  return std::set<std::uint32_t>(cluster.host_of.begin(), cluster.host_of.end()).size();
}

// What a lane of a plan needs of a rank's outbox, in tiles.
struct OutboxNeed {
  std::size_t lanes = 1;
  std::size_t staged_chunks = 0;  // most of any rank
  std::size_t pipes = 0;          // most that leave a lane
  std::size_t value_chunks = 0;   // most in one message

  explicit OutboxNeed(const Plan& plan) {
    std::vector<std::set<std::uint32_t>> staged(plan.programs.size());
    for (const Program& program : plan.programs) {
      lanes = std::max(lanes, program.lanes.size());
      for (const Lane& lane : program.lanes) add(lane, staged);
    }
    for (const auto& chunks : staged) staged_chunks = std::max(staged_chunks, chunks.size());
  }

  void add(const Lane& lane, std::vector<std::set<std::uint32_t>>& staged) {
    std::set<Rank> peers;
    for (std::size_t i = 0; i < lane.size(); ++i) {
      for (const Slice& target : lane.targets(lane[i])) {
        for (std::uint32_t c = 0; target.buffer == Buffer::stage && c < target.count; ++c) {
          staged[static_cast<std::size_t>(target.owner)].insert(target.at(c));
        }
      }
      if (lane[i].send_to == kNoRank) continue;
      peers.insert(lane[i].send_to);
      const auto slices = lane[i].source_count > 0 ? lane.sources(lane[i]) : lane.targets(lane[i]);
      value_chunks = std::max<std::size_t>(value_chunks, slices.empty() ? 1 : slices[0].count);
    }
    pipes = std::max(pipes, peers.size());
  }
};

// As engines divide an outbox: room for two tiles of each staged chunk, and for the slots of each pipe.
std::uint64_t tile_bytes_of(const Cluster& cluster, const Plan& plan) {
  const OutboxNeed need(plan);
  const std::size_t places = 2 * need.staged_chunks + plan.slots * need.pipes * need.value_chunks;
  const std::uint64_t room = places == 0 ? cluster.tile_bytes_max : cluster.machine.outbox_bytes / need.lanes / places;
  return std::max(kTileQuantum, std::min(room, cluster.tile_bytes_max) / kTileQuantum * kTileQuantum);
}

// One plan, built once and read in one or more lanes.
class Reading {
 public:
  Reading(const Cluster& cluster, const Request& request, Plan plan, std::uint64_t tile_bytes)
      : cluster_(cluster), plan_(std::move(plan)), tile_bytes_(tile_bytes) {
    if (plan_.chunks == 0) return;
    const Layout layout = even_maps(plan_, request.elements)[0].in;
    for (std::uint32_t chunk = 0; chunk < plan_.chunks; ++chunk) {
      chunk_bytes_.push_back(static_cast<double>(layout.of(chunk).elements * request.element_bytes));
    }
    largest_ = *std::max_element(chunk_bytes_.begin(), chunk_bytes_.end());
  }

  bool is_worth(std::uint32_t lanes) const { return lanes == 1 || largest_ / lanes >= kLaneBytesMin; }
  std::uint64_t tile_bytes(std::uint32_t lanes) const {
    return std::max(kTileQuantum, tile_bytes_ / lanes / kTileQuantum * kTileQuantum);
  }

  struct Cost {
    double seconds = 0;
    double work_s = 0;  // of the rank that has most to do
  };
  // The first tile goes all the way; others follow as fast as lanes, and what they share, let them.
  Cost cost(std::uint32_t lanes) const {
    const double tiles = std::max(1.0, std::ceil(largest_ / lanes / static_cast<double>(tile_bytes(lanes))));
    std::vector<double> bytes = chunk_bytes_;
    for (double& chunk : bytes) chunk /= lanes * tiles;
    const Pace pace = pace_of(cluster_, plan_, bytes);
    const double later_s = std::max(pace.lane_s, lanes * pace.busy_s);
    return {.seconds = pace.path_s + (lanes - 1) * pace.busy_s + (tiles - 1) * later_s,
            .work_s = lanes * tiles * pace.work_s};
  }

 private:
  const Cluster& cluster_;
  Plan plan_;
  std::vector<double> chunk_bytes_;
  double largest_ = 0;
  std::uint64_t tile_bytes_;  // in one lane
};

Shape shape_of(const Cluster& cluster, const Request& request) {
  Shape shape;
  shape.collective = request.collective;
  shape.ranks = cluster.ranks();
  shape.root = request.root;
  shape.peer = request.peer;
  shape.in_place = request.in_place;
  shape.host_of = cluster.host_of;
  return shape;
}

bool knows_hosts(const Algorithm& algorithm, const Shape& shape) {
  Shape together = shape;
  together.host_of.clear();
  return algorithm.fits(shape) && !algorithm.fits(together);
}

// The form for this reach of a plan that knows hosts; of others, which only use pipes, there is one.
Reach form_of(const Algorithm& algorithm, const Shape& shape, Reach local_reach) {
  if (!knows_hosts(algorithm, shape) || local_reach == Reach::none) return Reach::none;
  return local_reach == Reach::full ? Reach::full : Reach::stage;
}

// Hosts that run different forms must cut the same tiles: those of the form that has stages.
Result<std::uint64_t> common_tile_bytes(const Cluster& cluster, const Algorithm& algorithm, Shape shape) {
  shape.reach = std::min(shape.reach, Reach::stage);
  TUTTI_ASSIGN(const Plan plan, build(algorithm, shape));
  return tile_bytes_of(cluster, plan);
}

// Whether every sum is completed in one place, from where all get it: then they have the same bits although values are
// rounded on their way. Every chunk is finished at least once, or the plan is none.
bool finishes_once(const Plan& plan) {
  std::size_t finished = 0;
  for (const Program& program : plan.programs) {
    for (const Lane& lane : program.lanes) {
      for (std::size_t i = 0; i < lane.size(); ++i) {
        if (!lane[i].finish) continue;
        const auto slices = lane[i].source_count > 0 ? lane.sources(lane[i]) : lane.targets(lane[i]);
        finished += slices.empty() ? 1 : slices[0].count;
      }
    }
  }
  return finished <= plan.chunks;
}

// Fewer bytes of an element are a faster network. What sockets gain by it, rounding and expanding take.
Cluster as_seen_by(const Request& request, Cluster cluster) {
  if (request.wire_element_bytes != 0) {
    cluster.network_bytes_per_s *= static_cast<double>(request.element_bytes) / request.wire_element_bytes;
  }
  return cluster;
}

void add_candidates(const Cluster& cluster, const Request& request, const Algorithm& algorithm, const Shape& shape,
                    std::vector<Rated>& candidates) {
  auto plan = build(algorithm, shape);
  if (!plan) return;
  const bool is_rounded = request.wire_element_bytes != 0 && request.collective == Collective::all_reduce;
  if (is_rounded && !finishes_once(*plan)) return;
  const auto tile_bytes = shape.reach == Reach::full ? common_tile_bytes(cluster, algorithm, shape)
                                                     : Result<std::uint64_t>(tile_bytes_of(cluster, *plan));
  if (!tile_bytes) return;
  const Reading reading(cluster, request, *std::move(plan), *tile_bytes);
  for (const std::uint32_t lanes : {1u, 2u, 4u}) {
    if (!reading.is_worth(lanes)) break;
    const Reading::Cost cost = reading.cost(lanes);
    Candidate candidate{&algorithm, shape, reading.tile_bytes(lanes), cost.seconds};
    candidate.shape.lanes = lanes;
    candidates.push_back({std::move(candidate), cost.work_s});
  }
}

}  // namespace

std::vector<Candidate> rank_hosts(const Cluster& cluster, const Request& request, Reach local_reach) {
  const Shape base = shape_of(cluster, request);
  const Cluster seen = as_seen_by(request, cluster);
  std::vector<Rated> rated;
  for (const bool is_flat : {false, true}) {
    if (is_flat && !rated.empty() && cluster.ranks() > kFlatRanksMax) break;
    for (const Algorithm& algorithm : algorithms()) {
      if (algorithm.collective != request.collective) continue;
      Shape shape = base;
      shape.reach = local_reach;
      if (knows_hosts(algorithm, shape) == is_flat) continue;
      shape.reach = form_of(algorithm, shape, local_reach);
      if (algorithm.fits(shape)) add_candidates(seen, request, algorithm, shape, rated);
    }
  }
  // Of two that take as long the one with fewer lanes comes first: it was added first.
  std::stable_sort(rated.begin(), rated.end(),
                   [](const Rated& a, const Rated& b) { return a.candidate.estimate_s < b.candidate.estimate_s; });
  const auto end = std::find_if(rated.begin(), rated.end(), [&](const Rated& each) {
    return each.candidate.estimate_s > kAboutAsLong * rated[0].candidate.estimate_s;
  });
  const auto least = std::min_element(rated.begin(), end, [](const Rated& a, const Rated& b) {
    return a.candidate.estimate_s + a.work_s < b.candidate.estimate_s + b.work_s;
  });
  if (least != end) std::rotate(rated.begin(), least, std::next(least));
  std::vector<Candidate> ranked;
  for (Rated& each : rated) ranked.push_back(std::move(each.candidate));
  return ranked;
}

std::optional<Candidate> twin_of(const Candidate& candidate, Reach local_reach) {
  const bool has_forms = knows_hosts(*candidate.algorithm, candidate.shape) && candidate.shape.reach != Reach::none;
  if (!has_forms || local_reach == Reach::none) return std::nullopt;
  Candidate twin = candidate;
  twin.shape.reach = form_of(*candidate.algorithm, candidate.shape, local_reach);
  return twin;
}

std::string explain_hosts(const Cluster& cluster, const Request& request, const std::vector<Candidate>& ranked) {
  if (ranked.empty()) return "no algorithm fits";
  const auto describe = [](const Candidate& candidate) {
    std::string text(candidate.algorithm->name);
    if (candidate.shape.reach == Reach::stage) text += " through stages";
    if (candidate.shape.lanes > 1) text += fmt::format(" in {} lanes", candidate.shape.lanes);
    return text;
  };
  std::string answer =
      fmt::format("{} {} over {} ranks on {} hosts: {}", describe(ranked[0]), name_of(request.collective),
                  cluster.ranks(), host_count(cluster), text::seconds_text(ranked[0].estimate_s));
  answer += fmt::format("\n  {}", ranked[0].algorithm->summary);
  std::set<const Algorithm*> shown = {ranked[0].algorithm};
  for (const Candidate& rival : ranked) {
    if (shown.size() > kRivalsShown || !shown.insert(rival.algorithm).second) continue;
    answer += fmt::format("\n  {} would take {}", describe(rival), text::seconds_text(rival.estimate_s));
  }
  return answer;
}

}  // namespace tutti::planner

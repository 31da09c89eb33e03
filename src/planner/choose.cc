#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "planner/bound.h"
#include "planner/orders.h"
#include "tutti/planner.h"

namespace tutti::planner {

namespace {

using plan::Algorithm;
using plan::Shape;

// Above this many ranks a lane more costs more simulated steps than it may win.
constexpr Rank kManyLanesRanksMax = 64;
// A tile is what a slot holds: small enough for slots to stay in cache and memory bounded, large enough to pay for its
// step. Plans that only reach have no slots and need no tiles.
constexpr std::uint64_t kTileBytesMin = 16 << 10;
constexpr std::uint64_t kTileBytesMax = 4 << 20;
// What simulating one candidate may cost, in steps; beyond it a candidate stands only if it is the only one.
constexpr double kStepsMax = 3e6;
constexpr std::size_t kOthersShown = 4;
constexpr double kTie = 0.01;

Shape shape_of(const topology::Topology& topology, const Request& request) {
  Shape shape;
  shape.collective = request.collective;
  shape.ranks = static_cast<Rank>(topology.device_count());
  shape.root = request.root;
  shape.peer = request.peer;
  shape.in_place = request.in_place;
  const bool reaches =
      std::all_of(topology.kinds.begin(), topology.kinds.end(), [](const auto& kind) { return kind.reach; });
  shape.reach = request.reach.value_or(reaches ? plan::Reach::full : plan::Reach::none);
  for (const topology::Place& place : topology::places(topology)) shape.host_of.push_back(place.host);
  return shape;
}

std::vector<std::uint32_t> lane_counts(const topology::Topology& topology, const Shape& shape) {
  if (shape.collective == plan::Collective::barrier) return {1};
  if (shape.ranks <= kManyLanesRanksMax) return {1, 2, 4};
  // One lane per network card that serves a device.
  const auto& kind = topology.kind_of(0);
  const auto cards = static_cast<std::uint32_t>(kind.nics.size() / std::max<std::size_t>(1, kind.devices.size()));
  return cards > 1 ? std::vector<std::uint32_t>{1, cards} : std::vector<std::uint32_t>{1};
}

std::uint64_t chunk_bytes_of(const Algorithm& algorithm, const Shape& shape, const Request& request) {
  const std::uint32_t blocks = algorithm.blocks(shape);
  if (blocks == 0) return 0;
  const std::uint64_t divided = plan::has_blocks(shape.collective) ? shape.lanes : std::uint64_t{blocks} * shape.lanes;
  return (request.elements + divided - 1) / divided * request.element_bytes;
}

std::vector<std::uint64_t> tile_sizes(const Algorithm& algorithm, const Shape& shape, const Request& request) {
  const std::uint64_t chunk = std::max<std::uint64_t>(request.element_bytes, chunk_bytes_of(algorithm, shape, request));
  if (algorithm.only_reaches && !algorithm.uses_stage) return {chunk};
  std::vector<std::uint64_t> sizes;
  for (const std::uint64_t pieces : {1, 4, 16}) {
    const std::uint64_t tile = std::clamp((chunk + pieces - 1) / pieces, kTileBytesMin, kTileBytesMax);
    if (sizes.empty() || sizes.back() != tile) sizes.push_back(tile);
  }
  return sizes;
}

struct Ranked {
  Candidate candidate;
  Bound bound;
};

// Candidates by the time they cannot beat, without those too large to simulate.
Result<std::vector<Ranked>> rank_by_bound(const plan::Model& model, std::vector<Candidate> all,
                                          const Request& request) {
  std::vector<Ranked> ranked;
  for (Candidate& candidate : all) {
    TUTTI_ASSIGN(const Bound bound, lower_bound(model, candidate, request));
    ranked.push_back({std::move(candidate), bound});
  }
  const auto cheap = [](const Ranked& r) { return r.bound.steps <= kStepsMax; };
  if (std::any_of(ranked.begin(), ranked.end(), cheap))
    std::erase_if(ranked, [&](const Ranked& r) { return !cheap(r); });
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.bound.seconds < b.bound.seconds; });
  return ranked;
}

struct Simulated {
  Candidate candidate;
  plan::Timeline timeline;
};

// The fastest first; of those that the model can hardly tell apart the one with the fewest lanes.
void sort_by_preference(std::vector<Simulated>& simulated, double best_s) {
  const auto is_tie = [&](const Simulated& s) { return s.candidate.estimate_s <= best_s * (1 + kTie); };
  std::stable_sort(simulated.begin(), simulated.end(), [&](const Simulated& a, const Simulated& b) {
    const bool lanes_decide = is_tie(a) && is_tie(b) && a.candidate.shape.lanes != b.candidate.shape.lanes;
    return lanes_decide ? a.candidate.shape.lanes < b.candidate.shape.lanes
                        : a.candidate.estimate_s < b.candidate.estimate_s;
  });
}

std::string describe(const Candidate& candidate) {
  std::string text(candidate.algorithm->name);
  if (candidate.shape.lanes > 1) text += fmt::format(" in {} lanes", candidate.shape.lanes);
  if (!candidate.shape.orders.empty()) text += fmt::format(" along {} rings", candidate.shape.orders.size());
  return text;
}

std::string reason(const Choice& choice, const plan::Timeline& timeline, const plan::Model& model) {
  std::string text =
      fmt::format("{} takes {} by estimate", describe(choice.best), text::seconds_text(choice.best.estimate_s));
  const double busy = timeline.busiest.empty() ? 0 : timeline.busiest[0].busy_s / timeline.total_s;
  if (busy >= 0.5) {
    text += fmt::format(": bandwidth decides, {} is busy {:.0f} % of the time", timeline.busiest[0].name, busy * 100);
  } else {
    text += fmt::format(": hops decide, links are busy at most {:.0f} % of the time and a call costs {} to begin with",
                        busy * 100, text::seconds_text(model.launch_s()));
  }
  const auto next = std::find_if(choice.others.begin(), choice.others.end(),
                                 [&](const Candidate& other) { return other.algorithm != choice.best.algorithm; });
  if (next != choice.others.end()) {
    text += fmt::format("; the next best, {}, would take {:.2f} times as long", describe(*next),
                        next->estimate_s / choice.best.estimate_s);
  }
  return text;
}

}  // namespace

namespace {

// Algorithms that load from stages or only load are for processes that cannot do more; with full reach direct does the
// same with fewer copies.
bool is_for_less_reach(const Algorithm& algorithm, const Shape& shape) {
  return shape.reach == plan::Reach::full && algorithm.reach != plan::Reach::full &&
         algorithm.reach != plan::Reach::none;
}

}  // namespace

std::vector<Candidate> candidates(const topology::Topology& topology, const Request& request) {
  const Shape base = shape_of(topology, request);
  const auto orders = ring_orders(topology);
  std::vector<Candidate> found;
  const auto add = [&](const Algorithm& algorithm, const Shape& shape) {
    if (!algorithm.fits(shape)) return;
    for (const std::uint64_t tile : tile_sizes(algorithm, shape, request))
      found.push_back({&algorithm, shape, tile, 0});
  };
  for (const Algorithm& algorithm : plan::algorithms()) {
    if (algorithm.collective != request.collective || is_for_less_reach(algorithm, base)) continue;
    Shape shape = base;
    for (const std::uint32_t lanes : lane_counts(topology, shape)) {
      shape.lanes = lanes;
      add(algorithm, shape);
    }
    if (orders.empty()) continue;
    shape.orders = orders;
    shape.lanes = static_cast<std::uint32_t>(orders.size());
    add(algorithm, shape);
  }
  return found;
}

Result<Choice> choose(const topology::Topology& topology, const Request& request) {
  const Shape shape = shape_of(topology, request);
  TUTTI_TRY(plan::validate(shape));
  const auto model = create_model(topology);
  TUTTI_ASSIGN(const auto ranked, rank_by_bound(*model, candidates(topology, request), request));
  if (ranked.empty())
    return Status(Code::unsupported, fmt::format("no algorithm fits {}", plan::name_of(request.collective)));

  std::vector<Simulated> simulated;
  double best_s = std::numeric_limits<double>::infinity();
  for (const Ranked& next : ranked) {
    if (next.bound.seconds >= best_s) break;  // nor can those behind it win
    TUTTI_ASSIGN(const plan::Plan plan, plan::build(*next.candidate.algorithm, next.candidate.shape));
    TUTTI_ASSIGN(plan::Timeline timeline, plan::simulate(plan, *model,
                                                         {.elements = request.elements,
                                                          .element_bytes = request.element_bytes,
                                                          .tile_bytes = next.candidate.tile_bytes,
                                                          .record_spans = false}));
    best_s = std::min(best_s, timeline.total_s);
    simulated.push_back({next.candidate, std::move(timeline)});
    simulated.back().candidate.estimate_s = simulated.back().timeline.total_s;
  }
  sort_by_preference(simulated, best_s);

  Choice choice;
  choice.best = simulated[0].candidate;
  for (std::size_t i = 1; i < simulated.size(); ++i) choice.others.push_back(simulated[i].candidate);
  choice.why = reason(choice, simulated[0].timeline, *model);
  if (choice.others.size() > kOthersShown) choice.others.resize(kOthersShown);
  return choice;
}

}  // namespace tutti::planner

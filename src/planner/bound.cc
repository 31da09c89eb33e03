#include "planner/bound.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "tutti/chunk_map.h"

namespace tutti::planner {

namespace {

using namespace plan;

// Bytes that one rank's program moves over each link, and through each of its lanes' memory.
class Tally {
 public:
  Tally(const Model& model, const Layout& layout, std::uint32_t element_bytes, Rank rank)
      : model_(model), layout_(layout), element_bytes_(element_bytes), rank_(rank) {}

  // Returns the bytes of the rank's own memory that the lane touches.
  double add_lane(const Lane& lane, std::uint32_t index) {
    double own = 0;
    for (std::size_t i = 0; i < lane.size(); ++i) {
      const Step& step = lane[i];
      double value = 0;
      for (const Slice& source : lane.sources(step)) {
        value = bytes_of(source);
        if (source.owner == rank_) own += value;
        if (source.owner != rank_) carry(source.owner, rank_, index, value);
      }
      for (const Slice& target : lane.targets(step)) {
        value = bytes_of(target);
        if (target.owner == rank_) own += value;
        if (target.owner != rank_) carry(rank_, target.owner, index, value);
      }
      if (step.receive_from != kNoRank) own += value;
      if (step.send_to != kNoRank) carry(rank_, step.send_to, index, value);
    }
    return own;
  }

  double slowest_link_s() const {
    double slowest = 0;
    for (const auto& [link, bytes] : bytes_) slowest = std::max(slowest, bytes / model_.bytes_per_s(link));
    return slowest;
  }

 private:
  double bytes_of(const Slice& slice) const {
    std::uint64_t elements = 0;
    for (std::uint32_t i = 0; i < slice.count; ++i) elements += layout_.of(slice.at(i)).elements;
    return static_cast<double>(elements * element_bytes_);
  }
  void carry(Rank from, Rank to, std::uint32_t lane, double bytes) {
    if (bytes <= 0) return;
    for (const std::uint32_t link : model_.route(from, to, lane).links) bytes_[link] += bytes;
  }

  const Model& model_;
  const Layout& layout_;
  std::uint32_t element_bytes_;
  Rank rank_;
  std::unordered_map<std::uint32_t, double> bytes_;
};

}  // namespace

Result<Bound> lower_bound(const plan::Model& model, const Candidate& candidate, const Request& request) {
  constexpr Rank kRank = 0;
  const Shape& shape = candidate.shape;
  TUTTI_ASSIGN(const Program program, build_program(*candidate.algorithm, shape, kRank));
  Header header;
  header.collective = shape.collective;
  header.ranks = shape.ranks;
  header.chunks = candidate.algorithm->blocks(shape) * shape.lanes;
  const Layout layout = even_maps(header, request.elements)[0].in;

  std::uint64_t largest = 0;
  if (header.chunks > 0) largest = layout.of(0).elements * request.element_bytes;  // larger chunks come first
  const double tiles =
      std::max(1.0, std::ceil(static_cast<double>(largest) / static_cast<double>(candidate.tile_bytes)));

  double memory_rate = 0;
  for (const std::uint32_t link : model.route(kRank, kRank, 0).links) {
    memory_rate = memory_rate == 0 ? model.bytes_per_s(link) : std::min(memory_rate, model.bytes_per_s(link));
  }
  Tally tally(model, layout, request.element_bytes, kRank);
  Bound bound;
  for (std::uint32_t lane = 0; lane < program.lanes.size(); ++lane) {
    const auto steps = static_cast<double>(program.lanes[lane].size()) * tiles;
    const double own = tally.add_lane(program.lanes[lane], lane);
    bound.seconds = std::max(bound.seconds, steps * model.step_s() + (memory_rate > 0 ? own / memory_rate : 0));
    bound.steps += steps * shape.ranks;
  }
  bound.seconds = model.launch_s() + std::max(bound.seconds, tally.slowest_link_s());
  return bound;
}

}  // namespace tutti::planner

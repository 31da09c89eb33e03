#include "engine/host/workspace.h"

#include <algorithm>

namespace tutti::engine {

namespace {

template <class T>
void grow(std::vector<T>& vector, std::size_t size) {
  if (vector.size() < size) vector.resize(size);
}

}  // namespace

void Workspace::reserve(const Launch& launch, Rank ranks) {
  std::size_t longest = 0;
  for (const LaunchLane& lane : launch.lanes) {
    for (const LaunchStep& step : lane.steps) {
      longest = std::max({longest, std::size_t{step.source_count}, std::size_t{step.target_count}});
    }
  }
  grow(sources, longest + 1);  // and what is received
  grow(targets, longest + 1);  // and what is sent
  grow(factors, longest + 1);
  grow(source_owners, longest + 1);
  grow(target_owners, longest + 1);
  grow(piece_sources, longest + 1);
  grow(piece_targets, longest + 1);
  const std::size_t lanes = launch.lanes.size();
  grow(scratch_, lanes * launch.scratch_bytes);
  grow(scratch_sizes_, lanes * launch.prepared->scratch_chunks);
  if (launch.elements.is_custom) reserve_bounces(1);
  if (launch.elements.wire_type) reserve_bounces(2);
  const plan::Header& plan = launch.prepared->header;
  const bool combines_across = plan.reach >= plan::Reach::load && plan::reduces(plan.collective);
  if (combines_across && !launch.is_mapped) reserve_bounces(longest + 3);
  if (launch.prepared->is_one_round) grow(flash_, (static_cast<std::size_t>(ranks) + 1) * kFlashBytes);
}

std::size_t Workspace::bytes() const {
  return scratch_.capacity() + bounce_.capacity() + flash_.capacity() +
         sizeof(std::uint64_t) * (scratch_sizes_.capacity() + sources.capacity() * 7);
}

}  // namespace tutti::engine

#include "engine/host/workspace.h"

#include <algorithm>

namespace tutti::engine {

namespace {

// No more than that: what it takes is counted.
template <class T>
void grow(std::vector<T>& vector, std::size_t size) {
  if (vector.size() >= size) return;
  vector.reserve(size);
  vector.resize(size);
}

}  // namespace

Workspace::Needs Workspace::needs_of(const Launch& launch, Rank flash_ranks) {
  Needs needs;
  for (const LaunchLane& lane : launch.lanes) {
    for (const LaunchStep& step : lane.steps) {
      needs.longest = std::max({needs.longest, std::size_t{step.source_count}, std::size_t{step.target_count}});
    }
  }
  const std::size_t lanes = launch.lanes.size();
  needs.scratch_bytes = lanes * launch.scratch_bytes;
  needs.scratch_chunks = lanes * launch.prepared->scratch_chunks;
  if (launch.elements.is_custom) needs.bounces = 1;
  if (launch.elements.wire_type) needs.bounces = 2;
  const plan::Header& plan = launch.prepared->header;
  const bool combines_across = plan.reach >= plan::Reach::load && plan::reduces(plan.collective);
  if (combines_across && !launch.is_mapped) needs.bounces = needs.longest + 3;
  if (flash_ranks > 0) needs.flash_bytes = (static_cast<std::size_t>(flash_ranks) + 1) * kFlashBytes;
  return needs;
}

void Workspace::reserve(const Launch& launch, Rank flash_ranks) {
  const Needs needs = needs_of(launch, flash_ranks);
  grow(sources, needs.longest + 1);  // and what is received
  grow(targets, needs.longest + 1);  // and what is sent
  grow(factors, needs.longest + 1);
  grow(source_owners, needs.longest + 1);
  grow(target_owners, needs.longest + 1);
  grow(piece_sources, needs.longest + 1);
  grow(piece_targets, needs.longest + 1);
  grow(scratch_, needs.scratch_bytes);
  grow(scratch_sizes_, needs.scratch_chunks);
  reserve_bounces(needs.bounces);
  grow(flash_, needs.flash_bytes);
}

namespace {

// Of one place in each of the seven lists of a step.
constexpr std::size_t kPlaceBytes = 4 * sizeof(void*) + sizeof(double) + 2 * sizeof(int);

}  // namespace

std::size_t Workspace::bytes() const {
  return scratch_.capacity() + bounce_.capacity() + flash_.capacity() + cursors.capacity() * sizeof(Cursor) +
         stretches.capacity() * sizeof(transport::Stretch) + scratch_sizes_.capacity() * sizeof(std::uint64_t) +
         sources.capacity() * kPlaceBytes;
}

std::size_t Workspace::bytes_with(const Launch& launch, Rank flash_ranks) const {
  const Needs needs = needs_of(launch, flash_ranks);
  const auto more = [](std::size_t needed, std::size_t there) { return needed > there ? needed - there : 0; };
  return bytes() + more(needs.scratch_bytes, scratch_.capacity()) +
         more(needs.scratch_chunks, scratch_sizes_.capacity()) * sizeof(std::uint64_t) +
         more(needs.bounces * kBounceBytes, bounce_.capacity()) + more(needs.flash_bytes, flash_.capacity()) +
         more(needs.longest + 1, sources.capacity()) * kPlaceBytes;
}

}  // namespace tutti::engine

// A part of a communicator as a communicator of its own: its ranks already have each other's heaps.
#include <fmt/format.h>

#include <algorithm>

#include "comm/room.h"
#include "comm/start.h"
#include "device/host/heap.h"

namespace tutti::comm {

namespace {

// What every rank tells all others.
struct Ballot {
  std::int64_t color;
  std::int64_t key;
  std::uint64_t memory;  // an address in one process, an offset in the heap between several
};

Result<std::vector<Ballot>> vote(Side& parent, const Ballot& mine) {
  std::vector<Ballot> all(static_cast<std::size_t>(parent.size()));
  const Call call{.collective = plan::Collective::all_gather,
                  .in = &mine,
                  .out = all.data(),
                  .count = sizeof(Ballot),
                  .type = DataType::uint8};
  Operation operation(parent.track_of(call), call);
  TUTTI_TRY(parent.complete(operation));
  return all;
}

// Ranks of one colour, by key, then by rank in the parent.
std::vector<Rank> ranks_of(const std::vector<Ballot>& ballots, int color) {
  std::vector<Rank> ranks;
  for (Rank rank = 0; rank < static_cast<Rank>(ballots.size()); ++rank) {
    if (ballots[static_cast<std::size_t>(rank)].color == color) ranks.push_back(rank);
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](Rank a, Rank b) {
    return ballots[static_cast<std::size_t>(a)].key < ballots[static_cast<std::size_t>(b)].key;
  });
  return ranks;
}

}  // namespace

Result<std::unique_ptr<Side>> start_split(Side& parent, int color, int key) {
  if (parent.has_ended()) return parent.why_ended();
  const bool is_local = parent.is_one_process();
  // As much as a communicator of all ranks needs: how many there will be is known after the vote.
  const std::size_t bytes = SideLayout(parent.size()).bytes();
  TUTTI_ASSIGN(auto room, is_local ? make_private_room(bytes) : make_shared_room(bytes));
  Ballot mine{.color = color, .key = key, .memory = reinterpret_cast<std::uintptr_t>(room.get())};
  if (!is_local) mine.memory = *device::Heap::existing()->offset_of(room.get(), bytes);
  TUTTI_ASSIGN(const auto ballots, vote(parent, mine));
  if (color == Communicator::kNoColor) return std::unique_ptr<Side>();
  const std::vector<Rank> ranks = ranks_of(ballots, color);
  Membership membership;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto rank = static_cast<std::size_t>(ranks[i]);
    if (ranks[i] == parent.rank()) membership.rank = static_cast<Rank>(i);
    transport::Member member = parent.peers()[rank];
    member.rank = static_cast<Rank>(i);
    const std::uint64_t base = is_local ? 0 : reinterpret_cast<std::uintptr_t>(member.heap);
    membership.memories.push_back(reinterpret_cast<std::byte*>(base + ballots[rank].memory));
    membership.peers.push_back(std::move(member));
  }
  membership.machine = parent.machine();
  membership.machine.ranks = static_cast<Rank>(ranks.size());
  membership.own = std::move(room);
  CommunicatorOptions options = parent.options();
  options.rank = membership.rank;
  options.size = static_cast<Rank>(ranks.size());
  return std::make_unique<Side>(std::move(membership), options);
}

}  // namespace tutti::comm

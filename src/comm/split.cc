// A part of a communicator as a communicator of its own: its ranks already have each other's heaps.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "comm/notes.h"
#include "comm/room.h"
#include "comm/start.h"
#include "device/host/heap.h"
#include "os/clock.h"

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

// A communicator of some ranks of another.
struct Part {
  std::vector<Rank> ranks;  // of the parent, in the order of the new ones
  std::vector<std::uint64_t> memory;
  std::shared_ptr<std::byte> room;
  std::size_t room_bytes = 0;
  SideLayout layout = SideLayout();
  std::uint64_t name = 0;
};

// Of a communicator that was shrunk: no split has it.
constexpr std::uint64_t kNoColorOfAny = ~std::uint64_t{0};
// Of one that some ranks made without the others.
constexpr std::uint64_t kNoColorOfPart = ~std::uint64_t{1};

// Names differ wherever communicators do: in parent, moment or colour.
std::uint64_t name_of_part(std::uint64_t parent, std::uint64_t moment, std::uint64_t color) {
  std::uint64_t name = parent;
  for (const std::uint64_t part : {moment, color}) {
    name = (name ^ (part + 0x9e3779b97f4a7c15)) * 0xbf58476d1ce4e5b9;
    name ^= name >> 31;
  }
  return name;
}

// Numbered from 0 in the order of their first ranks; none where there is only one.
std::vector<Rank> renumber(const std::vector<Rank>& hosts) {
  std::vector<Rank> seen;
  std::vector<Rank> numbers;
  for (const Rank host : hosts) {
    const auto found = std::find(seen.begin(), seen.end(), host);
    numbers.push_back(static_cast<Rank>(found - seen.begin()));
    if (found == seen.end()) seen.push_back(host);
  }
  if (seen.size() <= 1) numbers.clear();
  return numbers;
}

std::unique_ptr<Side> make_part(Side& parent, Part part) {
  Membership membership{.layout = part.layout, .own = std::move(part.room), .own_bytes = part.room_bytes};
  std::vector<Rank> hosts;
  for (std::size_t i = 0; i < part.ranks.size(); ++i) {
    const Rank rank = part.ranks[i];
    if (rank == parent.rank()) membership.rank = static_cast<Rank>(i);
    transport::Member member = parent.peers()[static_cast<std::size_t>(rank)];
    member.rank = static_cast<Rank>(i);
    const std::uint64_t base = parent.is_one_process() ? 0 : reinterpret_cast<std::uintptr_t>(member.heap);
    membership.memories.push_back(member.is_remote ? nullptr : reinterpret_cast<std::byte*>(base + part.memory[i]));
    membership.peers.push_back(std::move(member));
    hosts.push_back(parent.host_of(rank));
  }
  membership.hosts = renumber(hosts);
  membership.network = parent.network();
  membership.compression = parent.compression();
  membership.late_warning = parent.late_warning();
  membership.machine = parent.machine();
  membership.machine.ranks = static_cast<Rank>(part.ranks.size());
  CommunicatorOptions options = parent.options();
  options.rank = membership.rank;
  options.size = membership.machine.ranks;
  MakeOutside make_outside;
  if (const Outside* outside = parent.outside()) {
    make_outside = [&part, outside](Side& side, Links::Shape shape) {
      shape.communicator = part.name;
      return outside->part(part.ranks, side, shape);
    };
  }
  return std::make_unique<Side>(std::move(membership), options, make_outside);
}

// Memory for a communicator, and how the others find it: an address in one process, an offset in the heap otherwise.
struct Room {
  std::shared_ptr<std::byte> memory;
  std::uint64_t at = 0;
  std::size_t bytes = 0;
};

Result<Room> take_room(const Side& parent, std::size_t bytes) {
  Room room;
  room.bytes = bytes;
  TUTTI_ASSIGN(room.memory, parent.is_one_process() ? make_private_room(bytes) : make_shared_room(bytes));
  room.at = parent.is_one_process() ? reinterpret_cast<std::uintptr_t>(room.memory.get())
                                    : *device::Heap::existing()->offset_of(room.memory.get(), bytes);
  return room;
}

// The ranks of a part have been named: it is as large as it will be.
Result<Room> take_room(const Side& parent, Part& part) {
  TUTTI_ASSIGN(part.layout, SideLayout::within(parent.options().memory_limit, static_cast<Rank>(part.ranks.size())));
  TUTTI_ASSIGN(Room room, take_room(parent, part.layout.bytes()));
  part.room = room.memory;
  part.room_bytes = room.bytes;
  return room;
}

// What another rank offers, unless nobody wants it any more.
Result<Bytes> obtain_unless(const Recall* recall, Side& parent, Rank rank, std::uint64_t name, Deadline deadline) {
  if (recall == nullptr) return obtain(parent, rank, name, deadline);
  for (;;) {  // bounded by the deadline
    TUTTI_TRY(recall->status());
    const Deadline soon = Deadline::after(os::now(), Recall::kLook);
    auto theirs =
        obtain(parent, rank, name, std::min(soon, deadline, [](Deadline a, Deadline b) { return a.at < b.at; }));
    if (theirs || theirs.status().code() != Code::timed_out || deadline.has_passed(os::now())) return theirs;
  }
}

// Where the rooms of these ranks are, told past the parent, which may have ended.
Result<std::vector<std::uint64_t>> exchange_rooms(Side& parent, const Part& part, std::uint64_t at, Deadline deadline,
                                                  const Recall* recall = nullptr) {
  std::vector<std::uint64_t> rooms;
  Bytes mine;
  append_number(mine, at);
  offer(parent, part.name, mine);
  for (const Rank rank : part.ranks) {
    rooms.push_back(rank == parent.rank() ? at : 0);
    if (rank == parent.rank() || parent.peers()[static_cast<std::size_t>(rank)].is_remote) continue;
    TUTTI_ASSIGN(const Bytes theirs, obtain_unless(recall, parent, rank, part.name, deadline));
    const auto place = ByteReader(theirs).number<std::uint64_t>();
    if (!place) return Status(Code::internal, fmt::format("rank {} told nonsense of its memory", rank));
    rooms.back() = *place;
  }
  return rooms;
}

// A part whose ranks have told each other past the parent where they are. What a rank offers goes when it leaves, so
// nobody goes on before all have learned what they need.
Result<std::unique_ptr<Side>> make_part_together(Side& parent, Part part) {
  auto side = make_part(parent, std::move(part));
  TUTTI_TRY(vote(*side, {}).status());
  return side;
}

}  // namespace

Result<std::unique_ptr<Side>> start_split(Side& parent, int color, int key) {
  if (parent.has_ended()) return parent.why_ended();
  // As much as any part of it needs: how many ranks there will be is known after the vote.
  const std::size_t limit = parent.options().memory_limit;
  TUTTI_ASSIGN(const std::size_t bytes, SideLayout::room_bytes(limit, parent.size()));
  TUTTI_ASSIGN(const Room room, take_room(parent, bytes));
  TUTTI_ASSIGN(const auto ballots, vote(parent, {.color = color, .key = key, .memory = room.at}));
  if (color == Communicator::kNoColor) return std::unique_ptr<Side>();
  Part part{.ranks = ranks_of(ballots, color), .memory = {}, .room = room.memory, .room_bytes = room.bytes};
  TUTTI_ASSIGN(part.layout, SideLayout::within(limit, static_cast<Rank>(part.ranks.size()), parent.size()));
  for (const Rank rank : part.ranks) part.memory.push_back(ballots[static_cast<std::size_t>(rank)].memory);
  if (parent.outside() != nullptr) {
    part.name = name_of_part(parent.outside()->name(), parent.call_number(), static_cast<std::uint64_t>(color));
  }
  return make_part(parent, std::move(part));
}

Result<std::unique_ptr<Side>> start_shrunk(Side& parent, std::chrono::nanoseconds timeout) {
  Outside* const outside = parent.outside();
  if (outside == nullptr) {
    return Status(
        Code::unsupported,
        "only communicators that were started with an Identifier can shrink; start with \"tcp:\" and its text");
  }
  const Deadline deadline = Deadline::after(os::now(), timeout);
  // Nobody waits any more for those who are gone.
  parent.end_here(Code::aborted, "the communicator is being shrunk");
  Part part;
  TUTTI_ASSIGN(Survivors survivors, outside->agree_on_survivors(deadline));
  part.ranks = std::move(survivors.ranks);
  part.name = name_of_part(outside->name(), survivors.epoch, kNoColorOfAny);
  TUTTI_ASSIGN(const Room room, take_room(parent, part));
  TUTTI_ASSIGN(part.memory, exchange_rooms(parent, part, room.at, deadline));
  return make_part_together(parent, std::move(part));
}

Result<std::unique_ptr<Side>> start_part(Side& parent, std::vector<Rank> ranks, std::uint64_t moment,
                                         std::chrono::nanoseconds timeout, const Recall* recall) {
  const Deadline deadline = Deadline::after(os::now(), timeout);
  Part part;
  part.ranks = std::move(ranks);
  TUTTI_ASSIGN(const Room room, take_room(parent, part));
  const std::uint64_t family = parent.outside() != nullptr ? parent.outside()->name() : 0;
  part.name = name_of_part(family, moment, kNoColorOfPart);
  for (const Rank rank : part.ranks) part.name = name_of_part(part.name, static_cast<std::uint64_t>(rank), 0);
  TUTTI_ASSIGN(part.memory, exchange_rooms(parent, part, room.at, deadline, recall));
  return make_part_together(parent, std::move(part));
}

}  // namespace tutti::comm

// How a program is drawn from a seed.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "base/random.h"
#include "tests/nccl_programs/model.h"
#include "tests/nccl_programs/program.h"

namespace tutti::programs {
namespace {

constexpr int kPlayersMax = 9;
constexpr int kDevices = 16;      // main.cc asks for so many
constexpr int kCallsInGroup = 3;  // each has two buffers of its own on every player
constexpr int kBuffers = 2 * kCallsInGroup + 1;
constexpr int kCommsMax = 8;

class Draw {
 public:
  Draw(std::uint64_t seed, Validity validity) : random_(seed * 2 + (validity == Validity::valid ? 0 : 1)) {
    program_.seed = seed;
    validity_ = validity;
  }

  Program program() {
    draw_players();
    draw_room();
    add_init();
    const int count = 3 + below(14);
    for (int index = 0; index < count; ++index) add_step();
    std::vector<int> rest = alive_;
    shuffle(rest);
    for (const int comm : rest) add_ending(comm);
    settle(program_);
    return std::move(program_);
  }

 private:
  int below(std::size_t bound) { return static_cast<int>(random_.below(bound)); }
  bool one_in(int many) { return below(static_cast<std::size_t>(many)) == 0; }
  template <class T>
  const T& any_of(const std::vector<T>& values) {
    return values[random_.below(values.size())];
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t index = values.size(); index > 1; --index)
      std::swap(values[index - 1], values[random_.below(index)]);
  }
  int size_of(int comm) const { return static_cast<int>(program_.comms[static_cast<std::size_t>(comm)].size()); }

  void draw_players() {
    const int count = 1 + below(kPlayersMax);
    // All in one thread, each in its own, or some of each.
    const int spread = below(3);
    const int threads = spread == 0 ? 1 : spread == 1 ? count : 1 + below(static_cast<std::size_t>(count));
    is_crowded_ = count > 1 && one_in(6);
    std::vector<int> devices(kDevices);
    std::iota(devices.begin(), devices.end(), 0);
    if (one_in(2)) shuffle(devices);
    for (int index = 0; index < count; ++index) {
      const int thread = spread == 1 ? index : below(static_cast<std::size_t>(threads));
      const int device = is_crowded_ ? index / 2 : devices[static_cast<std::size_t>(index)];
      program_.players.push_back({.device = device, .thread = thread});
    }
  }

  void draw_room() {
    // Players that share a device must not wait for each other's streams, which blocking ones would.
    const int count = 1 + below(4);
    for (int index = 0; index < count; ++index) {
      const auto kind = is_crowded_ ? StreamKind::non_blocking : static_cast<StreamKind>(below(4));
      const bool is_there = std::ranges::find(program_.streams, kind) != program_.streams.end();
      const bool is_single = kind == StreamKind::legacy || kind == StreamKind::per_thread;
      program_.streams.push_back(is_there && is_single ? StreamKind::blocking : kind);
    }
    program_.buffer_count = kBuffers;
    const std::array<std::size_t, 6> bytes = {200, 1000, 5000, 5000, 40'000, 1'000'000};
    program_.buffer_bytes = bytes[random_.below(bytes.size())] + random_.below(64);
  }

  int new_comm(std::vector<int> members) {
    program_.comms.push_back(std::move(members));
    alive_.push_back(static_cast<int>(program_.comms.size()) - 1);
    return alive_.back();
  }

  void add_init() {
    std::vector<int> members(program_.players.size());
    std::iota(members.begin(), members.end(), 0);
    if (!alive_.empty() && one_in(2)) {  // not all of them
      shuffle(members);
      members.resize(1 + random_.below(members.size()));
    }
    if (one_in(2)) shuffle(members);
    Making making{.how = static_cast<How>(below(4)), .callers = members};
    if (making.how == How::init_rank_config || making.how == How::init_rank_scalable) making.is_blocking = !one_in(4);
    making.is_grouped = one_in(2);
    making.comms.assign(members.size(), new_comm(members));
    program_.steps.emplace_back(std::move(making));
  }

  void add_split() {
    const int parent = any_of(alive_);
    Making making{.how = How::split, .parent = parent, .callers = program_.comms[static_cast<std::size_t>(parent)]};
    const int colors = 1 + below(3);
    std::vector<std::vector<std::pair<int, int>>> parts(static_cast<std::size_t>(colors));  // key, rank
    for (int rank = 0; rank < size_of(parent); ++rank) {
      const int color = one_in(6) ? NCCL_SPLIT_NOCOLOR : below(static_cast<std::size_t>(colors));
      const int key = below(7) - 3;
      making.colors.push_back(color);
      making.keys.push_back(key);
      if (color >= 0) parts[static_cast<std::size_t>(color)].emplace_back(key, rank);
    }
    making.comms.assign(making.callers.size(), -1);
    for (auto& part : parts) {
      if (part.empty()) continue;
      std::ranges::sort(part);
      std::vector<int> members;
      for (const auto& [key, rank] : part) members.push_back(making.callers[static_cast<std::size_t>(rank)]);
      const int comm = new_comm(members);
      for (const auto& [key, rank] : part) making.comms[static_cast<std::size_t>(rank)] = comm;
    }
    making.is_grouped = one_in(2);
    making.is_blocking = !one_in(5);
    program_.steps.emplace_back(std::move(making));
  }

  void add_shrink() {
    const int parent = any_of(alive_);
    if (size_of(parent) < 2) return;
    const auto& members = program_.comms[static_cast<std::size_t>(parent)];
    std::vector<int> ranks(members.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    shuffle(ranks);
    Making making{.how = How::shrink, .parent = parent};
    making.excluded.assign(ranks.begin(), ranks.begin() + 1 + below(ranks.size() - 1));
    for (std::size_t rank = 0; rank < members.size(); ++rank)
      if (std::ranges::find(making.excluded, static_cast<int>(rank)) == making.excluded.end())
        making.callers.push_back(members[rank]);
    making.is_grouped = one_in(2);
    making.comms.assign(making.callers.size(), new_comm(making.callers));
    program_.steps.emplace_back(std::move(making));
  }

  // Ranks of the parent keep their places, newcomers come after them.
  void add_grow() {
    const int parent = any_of(alive_);
    std::vector<int> newcomers;
    const auto& members = program_.comms[static_cast<std::size_t>(parent)];
    for (int player = 0; player < static_cast<int>(program_.players.size()); ++player)
      if (std::ranges::find(members, player) == members.end()) newcomers.push_back(player);
    if (newcomers.empty()) return;
    shuffle(newcomers);
    newcomers.resize(1 + random_.below(newcomers.size()));
    Making making{.how = How::grow, .parent = parent, .callers = members};
    making.callers.insert(making.callers.end(), newcomers.begin(), newcomers.end());
    making.giver = below(members.size());
    making.is_grouped = one_in(2);
    making.is_blocking = !one_in(4);
    making.comms.assign(making.callers.size(), new_comm(making.callers));
    program_.steps.emplace_back(std::move(making));
  }

  void add_quitting(int comm) {
    if (size_of(comm) < 2) return add_ending(comm);
    std::erase(alive_, comm);
    program_.steps.emplace_back(
        Quitting{.comm = comm, .rank = below(program_.comms[static_cast<std::size_t>(comm)].size())});
  }

  void add_ending(int comm) {
    std::erase(alive_, comm);
    Ending ending{.comm = comm};
    for (int rank = 0; rank < size_of(comm); ++rank) ending.finalizes.push_back(one_in(2));
    program_.steps.emplace_back(std::move(ending));
  }

  void add_step() {
    const int draw = below(20);
    const bool has_room = program_.comms.size() < kCommsMax;
    if (draw == 0 && has_room) return add_init();
    if (draw == 1 && has_room) return add_split();
    if (draw == 2 && has_room) return one_in(2) ? add_shrink() : add_grow();
    if (draw == 3 && alive_.size() > 1) return one_in(2) ? add_ending(any_of(alive_)) : add_quitting(any_of(alive_));
    if (draw < 6) return add_local();
    if (draw < 8) return add_wait();
    if (validity_ == Validity::has_wrong_calls && draw < 14) return add_wrong();
    add_group();
  }

  void add_wrong() {
    program_.steps.emplace_back(
        WrongCall{.wrong = static_cast<Wrong>(below(kWrongs)), .comm = any_of(alive_), .is_grouped = one_in(2)});
  }

  void add_wait() {
    const auto kind = static_cast<WaitKind>(below(is_crowded_ ? 3 : 4));
    program_.steps.emplace_back(
        Wait{.player = below(program_.players.size()), .stream = below(program_.streams.size()), .kind = kind});
  }

  void add_local() {
    const int player = below(program_.players.size());
    const int stream = below(program_.streams.size());
    const int target = below(kBuffers);
    const std::size_t bytes = random_.below(program_.buffer_bytes);
    const Place to{.buffer = target, .offset = random_.below(program_.buffer_bytes - bytes)};
    if (one_in(3)) {
      program_.steps.emplace_back(
          Set{.player = player, .stream = stream, .target = to, .bytes = bytes, .value = below(256)});
      return;
    }
    const Place from{.buffer = (target + 1 + below(kBuffers - 1)) % kBuffers,
                     .offset = random_.below(program_.buffer_bytes - bytes)};
    program_.steps.emplace_back(Copy{.player = player, .stream = stream, .source = from, .target = to, .bytes = bytes});
  }

  void add_group() {
    Group group{.depth = below(4), .is_by_call = one_in(2), .sets_device = one_in(2)};
    // Every call of a group has buffers of its own on each player, as nothing orders them.
    std::vector<std::vector<int>> buffers;
    for (std::size_t player = 0; player < program_.players.size(); ++player) {
      auto& own = buffers.emplace_back(kBuffers);
      std::iota(own.begin(), own.end(), 0);
      shuffle(own);
    }
    const int count = one_in(2) ? 1 : 1 + below(kCallsInGroup);
    for (int index = 0; index < count; ++index) group.calls.push_back(draw_call(buffers));
    if (count == 1 && one_in(4)) capture(group);
    program_.steps.emplace_back(std::move(group));
  }

  // The default stream of a device cannot be captured. Sums that change their own inputs are exact once.
  void capture(Group& group) {
    const Call& call = group.calls[0];
    bool is_in_place = false;
    for (const Seat& seat : call.seats) {
      if (program_.streams[static_cast<std::size_t>(seat.stream)] == StreamKind::legacy) return;
      is_in_place = is_in_place || seat.in.buffer == seat.out.buffer;
    }
    group.replays = reduces(call.kind) && is_in_place ? 1 : 1 + below(3);
  }

  Call draw_call(std::vector<std::vector<int>>& buffers) {
    Call call{.kind = static_cast<CallKind>(below(kCallKinds)), .comm = any_of(alive_)};
    const int size = size_of(call.comm);
    call.type = static_cast<ncclDataType_t>(below(ncclNumTypes));
    call.op = static_cast<ncclRedOp_t>(below(ncclNumOps));
    call.root = below(static_cast<std::size_t>(size));
    call.fill_seed = random_.next();
    if (reduces(call.kind)) {
      if (one_in(4)) call.scalar = one_in(2) ? Scalar::host : Scalar::device;
      call.fills = one_in(4);
    }
    const auto blocks = static_cast<std::size_t>(size);
    call.count = draw_count(program_.buffer_bytes / bytes_of(call.type) / blocks);
    const int common_stream = below(program_.streams.size());
    const bool is_in_place = one_in(3);
    for (int rank = 0; rank < size; ++rank) {
      const int player = program_.comms[static_cast<std::size_t>(call.comm)][static_cast<std::size_t>(rank)];
      auto& own = buffers[static_cast<std::size_t>(player)];
      Seat seat{.stream = one_in(4) ? below(program_.streams.size()) : common_stream};
      seat.factor = below(4);
      seat.has_nulls = one_in(3);
      seat.in.buffer = own.back();
      own.pop_back();
      seat.out.buffer = own.back();
      own.pop_back();
      place(call, seat, rank, is_in_place);
      call.seats.push_back(seat);
    }
    if (call.kind == CallKind::messages) draw_messages(call);
    return call;
  }

  std::size_t draw_count(std::size_t most) {
    const int draw = below(8);
    const std::size_t count = draw == 0 ? 0 : draw == 1 ? 1 : draw < 5 ? random_.below(40) : random_.below(most + 1);
    return std::min({count, most, std::size_t{150'000}});
  }

  void place(const Call& call, Seat& seat, int rank, bool is_in_place) {
    const int size = size_of(call.comm);
    const std::size_t element = bytes_of(call.type);
    const std::size_t block = call.count * element;
    // Elements lie where their type may lie.
    const auto draw_offset = [&](std::size_t bytes) {
      return one_in(2) ? 0 : random_.below((program_.buffer_bytes - bytes) / element + 1) * element;
    };
    if (call.kind == CallKind::messages) return;
    seat.in.offset = draw_offset(in_elements(call, rank, size) * element);
    seat.out.offset = draw_offset(out_elements(call, rank, size) * element);
    const bool is_root = rank == call.root;
    switch (call.kind) {
      case CallKind::bcast: seat.in = seat.out; return;
      case CallKind::all_reduce:
        if (is_in_place) seat.in = seat.out;
        return;
      case CallKind::broadcast:
      case CallKind::reduce:
        if (is_in_place && is_root) seat.in = seat.out;
        return;
      case CallKind::all_gather:
        if (is_in_place) seat.in = {seat.out.buffer, seat.out.offset + static_cast<std::size_t>(rank) * block};
        return;
      case CallKind::gather:
        if (is_in_place && is_root)
          seat.in = {seat.out.buffer, seat.out.offset + static_cast<std::size_t>(rank) * block};
        return;
      case CallKind::reduce_scatter:
        if (is_in_place) seat.out = {seat.in.buffer, seat.in.offset + static_cast<std::size_t>(rank) * block};
        return;
      case CallKind::scatter:
        if (is_in_place && is_root)
          seat.out = {seat.in.buffer, seat.in.offset + static_cast<std::size_t>(rank) * block};
        return;
      case CallKind::all_to_all:
      case CallKind::messages: return;
    }
  }

  void draw_messages(Call& call) {
    const int size = size_of(call.comm);
    std::vector<std::size_t> received(static_cast<std::size_t>(size), 0);
    const auto add = [&](int source, int target) {
      Message message{.source = source, .target = target};
      message.type = static_cast<ncclDataType_t>(below(ncclNumTypes));
      const std::size_t element = bytes_of(message.type);
      std::size_t& used = received[static_cast<std::size_t>(target)];
      message.target_offset = (used + element - 1) / element * element;
      if (message.target_offset >= program_.buffer_bytes) return;
      const std::size_t most = (program_.buffer_bytes - message.target_offset) / element;
      message.count = one_in(3) ? draw_count(most) : draw_count(most / static_cast<std::size_t>(2 * size));
      const std::size_t bytes = message.count * element;
      used = message.target_offset + bytes;
      message.source_offset = random_.below((program_.buffer_bytes - bytes) / element + 1) * element;
      call.messages.push_back(message);
    };
    const int pattern = below(5);
    const int shift = below(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank) {
      if (pattern == 0) add(rank, (rank + shift) % size);  // a ring; each to itself where the shift is 0
      if (pattern == 1 && rank % 2 == 0 && rank + 1 < size) add(rank, rank + 1);
      if (pattern == 2) add(shift, rank);
      if (pattern == 3) add(below(static_cast<std::size_t>(size)), below(static_cast<std::size_t>(size)));
      for (int target = 0; pattern == 4 && target < size; ++target) add(rank, target);
    }
    if (one_in(4)) shuffle(call.messages);
  }

  Random random_;
  Program program_;
  Validity validity_ = Validity::valid;
  bool is_crowded_ = false;
  std::vector<int> alive_;
};

}  // namespace

Program draw_program(std::uint64_t seed, Validity validity) { return Draw(seed, validity).program(); }

}  // namespace tutti::programs

#include "tests/nccl_programs/model.h"

#include <cstring>

#include "base/random.h"

namespace tutti::programs {
namespace {

using Bytes = std::vector<std::byte>;

Reduced reduced_of(const Call& call) {
  Reduced how{.type = call.type, .op = call.op, .factors = {}};
  if (call.scalar != Scalar::none)
    for (const Seat& seat : call.seats) how.factors.push_back(seat.factor);
  return how;
}

class Model {
 public:
  explicit Model(const Program& program) : program_(program) {
    for (std::size_t player = 0; player < program.players.size(); ++player) {
      auto& buffers = expected_.players.emplace_back();
      for (int buffer = 0; buffer < program.buffer_count; ++buffer)
        buffers.push_back(first_content(program, static_cast<int>(player), buffer));
    }
  }

  // False: a reduction of it is not exact.
  bool run(const Call& call) {
    if (call.kind == CallKind::messages) return run_messages(call);
    const auto size = static_cast<int>(call.seats.size());
    if (call.count == 0) return true;
    // What every rank gives, as it is before the first has got anything.
    std::vector<Bytes> inputs;
    for (int rank = 0; rank < size; ++rank)
      inputs.push_back(copy_of(call, seat(call, rank).in, rank, in_elements(call, rank, size) * bytes_of(call.type)));
    Bytes sums;
    if (reduces(call.kind)) {
      sums.resize(inputs[0].size());
      const std::vector<std::span<const std::byte>> views(inputs.begin(), inputs.end());
      if (!reduce_exactly(reduced_of(call), views, sums)) return false;
    }
    for (int rank = 0; rank < size; ++rank) {
      const Bytes result = result_of(call, inputs, sums, rank);
      if (!result.empty()) std::memcpy(at(call, seat(call, rank).out, rank), result.data(), result.size());
    }
    return true;
  }

  void apply_filling(const Call& call) {
    for (int rank = 0; rank < static_cast<int>(call.seats.size()); ++rank) {
      const Bytes bytes = filling_of(program_, call, rank);
      if (!bytes.empty()) std::memcpy(at(call, seat(call, rank).in, rank), bytes.data(), bytes.size());
    }
  }

  void run(const Copy& copy) {
    auto& buffers = expected_.players[static_cast<std::size_t>(copy.player)];
    const auto& source = buffers[static_cast<std::size_t>(copy.source.buffer)];
    auto& target = buffers[static_cast<std::size_t>(copy.target.buffer)];
    std::memcpy(target.data() + copy.target.offset, source.data() + copy.source.offset, copy.bytes);
  }

  void run(const Set& set) {
    auto& target = expected_.players[static_cast<std::size_t>(set.player)][static_cast<std::size_t>(set.target.buffer)];
    std::memset(target.data() + set.target.offset, set.value, set.bytes);
  }

  void note(std::size_t step, const Wait& wait) {
    for (const Bytes& buffer : expected_.players[static_cast<std::size_t>(wait.player)])
      expected_.checksums[step].push_back(checksum_of(buffer));
  }

  Expected take() { return std::move(expected_); }

 private:
  static const Seat& seat(const Call& call, int rank) { return call.seats[static_cast<std::size_t>(rank)]; }

  std::byte* at(const Call& call, const Place& place, int rank) {
    const int player = program_.comms[static_cast<std::size_t>(call.comm)][static_cast<std::size_t>(rank)];
    auto& buffer = expected_.players[static_cast<std::size_t>(player)][static_cast<std::size_t>(place.buffer)];
    return buffer.data() + place.offset;
  }

  Bytes copy_of(const Call& call, const Place& place, int rank, std::size_t bytes) {
    const std::byte* from = at(call, place, rank);
    return {from, from + bytes};
  }

  static Bytes block_of(const Bytes& whole, int index, std::size_t bytes) {
    const auto first = whole.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(index) * bytes);
    return {first, first + static_cast<std::ptrdiff_t>(bytes)};
  }

  static Bytes result_of(const Call& call, const std::vector<Bytes>& inputs, const Bytes& sums, int rank) {
    const auto size = static_cast<int>(inputs.size());
    const std::size_t bytes = call.count * bytes_of(call.type);
    if (out_elements(call, rank, size) == 0) return {};
    Bytes joined;
    const auto root = static_cast<std::size_t>(call.root);
    switch (call.kind) {
      case CallKind::all_reduce:
      case CallKind::reduce: return sums;
      case CallKind::reduce_scatter: return block_of(sums, rank, bytes);
      case CallKind::broadcast:
      case CallKind::bcast: return inputs[root];
      case CallKind::scatter: return block_of(inputs[root], rank, bytes);
      case CallKind::all_gather:
      case CallKind::gather:
        for (const Bytes& input : inputs) joined.insert(joined.end(), input.begin(), input.end());
        return joined;
      case CallKind::all_to_all:
        for (const Bytes& input : inputs) {
          const Bytes block = block_of(input, rank, bytes);
          joined.insert(joined.end(), block.begin(), block.end());
        }
        return joined;
      case CallKind::messages: break;
    }
    return joined;
  }

  bool run_messages(const Call& call) {
    for (const Message& message : call.messages) {
      const std::byte* source = at(call, seat(call, message.source).in, message.source) + message.source_offset;
      std::byte* target = at(call, seat(call, message.target).out, message.target) + message.target_offset;
      std::memcpy(target, source, message.count * bytes_of(message.type));
    }
    return true;
  }

  const Program& program_;
  Expected expected_;
};

// What calls fill stands there before the first of the group begins.
bool run_group(Model& model, Group& group, bool may_change) {
  for (Call& call : group.calls) {
    if (call.fills) model.apply_filling(call);
  }
  for (Call& call : group.calls) {
    if (model.run(call)) continue;
    if (!may_change || call.fills) return false;
    call.fills = true;
    model.apply_filling(call);
    if (!model.run(call)) return false;
  }
  for (int again = 1; again < group.replays; ++again)
    for (const Call& call : group.calls)
      if (!model.run(call)) return false;
  return true;
}

Expected walk(Program& program, bool may_change) {
  Model model(program);
  for (std::size_t index = 0; index < program.steps.size(); ++index) {
    Step& step = program.steps[index];
    if (auto* group = std::get_if<Group>(&step); group != nullptr && !run_group(model, *group, may_change))
      std::abort();  // a fault of the test itself
    if (const auto* copy = std::get_if<Copy>(&step)) model.run(*copy);
    if (const auto* set = std::get_if<Set>(&step)) model.run(*set);
    if (const auto* wait = std::get_if<Wait>(&step)) model.note(index, *wait);
  }
  return model.take();
}

}  // namespace

void settle(Program& program) { walk(program, true); }

Expected expected_of(const Program& program) {
  Program copy = program;
  return walk(copy, false);
}

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0xcbf29ce484222325u;
  std::size_t index = 0;
  for (; index + 8 <= bytes.size(); index += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + index, 8);
    sum = (sum ^ word) * 0x100000001b3u;
    sum ^= sum >> 29;
  }
  for (; index < bytes.size(); ++index) sum = (sum ^ static_cast<std::uint64_t>(bytes[index])) * 0x100000001b3u;
  return sum;
}

std::vector<std::byte> first_content(const Program& program, int player, int buffer) {
  Random random(program.seed * 977 + static_cast<std::uint64_t>(player) * 31 + static_cast<std::uint64_t>(buffer));
  Bytes bytes(program.buffer_bytes);
  for (std::size_t index = 0; index < bytes.size(); index += 8) {
    const std::uint64_t word = random.next();
    std::memcpy(bytes.data() + index, &word, std::min<std::size_t>(8, bytes.size() - index));
  }
  return bytes;
}

std::vector<std::byte> filling_of(const Program&, const Call& call, int rank) {
  const auto size = static_cast<int>(call.seats.size());
  Bytes bytes(in_elements(call, rank, size) * bytes_of(call.type));
  fill(reduced_of(call), call.fill_seed, rank, size, bytes);
  return bytes;
}

}  // namespace tutti::programs

#include "plan/interpret/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "plan/check/promise.h"

namespace tutti::plan {

Interpreter::Interpreter(const Plan& plan, const std::vector<ChunkMap>& maps, const InterpretOptions& options,
                         Memories& memories, const Schedule& schedule)
    : plan_(plan),
      maps_(maps),
      options_(options),
      memories_(memories),
      schedule_(schedule),
      random_(schedule.seed),
      element_bytes_(size_of(options.type)),
      slots_(schedule.slots.value_or(plan.slots)),
      uses_stage_(uses_stage(plan)) {
  tiles_ = tile_count();
  constexpr std::uint64_t kStageTilesMax = 3;
  if (uses_stage_) stage_tiles_ = schedule.stage_tiles ? *schedule.stage_tiles : 1 + random_.below(kStageTilesMax);
  for (Rank rank = 0; rank < plan.ranks; ++rank) {
    const auto& lanes = plan.programs[static_cast<std::size_t>(rank)].lanes;
    for (std::uint32_t i = 0; i < lanes.size(); ++i) lanes_.push_back({.rank = rank, .index = i, .lane = &lanes[i]});
  }
  has_entered_.assign(static_cast<std::size_t>(plan.ranks), false);
  has_left_.assign(static_cast<std::size_t>(plan.ranks), false);
}

std::uint64_t Interpreter::tile_count() const {
  if (options_.tile_elements == 0) return 1;
  std::uint64_t largest = 0;
  for (const ChunkMap& map : maps_) {
    for (const Layout* layout : {&map.in, &map.out}) {
      for (std::uint32_t chunk = 0; chunk < layout->chunk_count(); ++chunk) {
        largest = std::max(largest, layout->of(chunk).elements);
      }
    }
  }
  return std::max<std::uint64_t>(1, (largest + options_.tile_elements - 1) / options_.tile_elements);
}

Status Interpreter::fault(const LaneState& state, std::string text) const {
  return {Code::internal, fmt::format("rank {} lane {} step {}: {}", state.rank, state.index, state.step, text)};
}

Status Interpreter::run() {
  const auto is_held = [&](const LaneState& state) {
    return schedule_.held_step == std::tuple(state.rank, state.index, static_cast<std::uint32_t>(state.step));
  };
  std::vector<std::pair<LaneState*, Rank>> choices;  // a lane to begin or end a step, or a rank to enter
  for (;;) {
    choices.clear();
    std::vector<std::pair<LaneState*, Rank>> last_resort;
    for (Rank rank = 0; rank < plan_.ranks; ++rank) {
      if (has_entered_[static_cast<std::size_t>(rank)]) continue;
      (schedule_.late_rank == rank ? last_resort : choices).emplace_back(nullptr, rank);
    }
    bool all_done = true;
    LaneState* preferred = nullptr;
    for (LaneState& state : lanes_) {
      if (state.is_done(tiles_)) continue;
      all_done = false;
      if (state.is_open) {
        (is_held(state) ? last_resort : choices).emplace_back(&state, kNoRank);
      } else if (has_entered_[static_cast<std::size_t>(state.rank)] && can_begin(state)) {
        if (is_held(state)) preferred = &state;
        choices.emplace_back(&state, kNoRank);
      }
    }
    if (choices.empty()) choices = std::move(last_resort);
    if (choices.empty() && all_done) break;
    if (choices.empty()) return stuck();
    const auto [chosen, entering] = choices[random_.below(choices.size())];
    LaneState* state = preferred != nullptr ? preferred : chosen;
    if (state == nullptr) {
      has_entered_[static_cast<std::size_t>(entering)] = true;
      TUTTI_TRY(check_leavers(entering));  // it may have nothing to do
    } else if (state->is_open) {
      TUTTI_TRY(end(*state));
    } else {
      TUTTI_TRY(begin(*state));
    }
  }
  for (const auto& [key, messages] : pipes_) {
    if (messages.empty()) continue;
    const auto& [from, to, lane] = key;
    return {Code::internal, fmt::format("a message from rank {} to rank {} in lane {} is left unread", from, to, lane)};
  }
  return {};
}

Status Interpreter::stuck() const {
  for (const LaneState& state : lanes_) {
    if (!state.is_done(tiles_)) return fault(state, "can never run");
  }
  return {};
}

// The rule of stages: every rank of the domain has ended the tile that had this tile's place.
bool Interpreter::has_place_in_stages(const LaneState& state) const {
  if (!uses_stage_ || !schedule_.keeps_stage_rule || state.tile < stage_tiles_) return true;
  const std::uint64_t before = state.tile - stage_tiles_;
  return std::all_of(lanes_.begin(), lanes_.end(), [&](const LaneState& other) {
    return other.lane->empty() || other.tile > before || !plan_.shares_domain(state.rank, other.rank);
  });
}

bool Interpreter::can_begin(LaneState& state) {
  if (state.step == 0 && !has_place_in_stages(state)) return false;
  const Step& step = (*state.lane)[state.step];
  for (const Point& point : state.lane->after(step)) {
    const auto other = std::find_if(lanes_.begin(), lanes_.end(), [&](const LaneState& candidate) {
      return candidate.rank == state.rank && candidate.index == point.lane;
    });
    if (std::pair(other->tile, other->step) <= std::pair(state.tile, std::size_t{point.step})) return false;
  }
  std::map<PipeKey, std::size_t> takes;
  std::map<PipeKey, std::size_t> gives;
  for (const Rank peer : state.lane->waits(step)) ++takes[{peer, state.rank, state.index}];
  if (step.receive_from != kNoRank) ++takes[{step.receive_from, state.rank, state.index}];
  for (const Rank peer : state.lane->signals(step)) ++gives[{state.rank, peer, state.index}];
  if (step.send_to != kNoRank) ++gives[{state.rank, step.send_to, state.index}];
  for (const auto& [key, count] : takes) {
    if (pipes_[key].size() < count) return false;
  }
  return std::all_of(gives.begin(), gives.end(),
                     [&](const auto& give) { return pipes_[give.first].size() + give.second <= slots_; });
}

Status Interpreter::take_messages(LaneState& state, const Step& step, Value& received) {
  // Looked at now, removed when the step ends: the slot is in use until then.
  std::map<Rank, std::size_t> taken;
  const auto next = [&](Rank peer) -> const Message& { return pipes_[{peer, state.rank, state.index}][taken[peer]++]; };
  for (const Rank peer : state.lane->waits(step)) {
    if (!next(peer).is_token) return fault(state, fmt::format("expects a token from rank {} and gets a value", peer));
  }
  if (step.receive_from != kNoRank) {
    const Message& message = next(step.receive_from);
    if (message.is_token)
      return fault(state, fmt::format("expects a value from rank {} and gets a token", step.receive_from));
    received = message.value;
  }
  return {};
}

Status Interpreter::begin(LaneState& state) {
  const Step& step = (*state.lane)[state.step];
  Value received;
  TUTTI_TRY(take_messages(state, step, received));
  TUTTI_TRY(note_touches(state, step));
  TUTTI_TRY(check_overlap(state));
  TUTTI_TRY(compute(state, step, received));
  state.is_open = true;
  return {};
}

Status Interpreter::compute(LaneState& state, const Step& step, const Value& received) {
  state.value = {};
  if (!step.has_value()) return {};
  const auto gather = [&](const Slice& slice) -> Result<Value> {
    Value loaded;
    for (std::uint32_t i = 0; i < slice.count; ++i) {
      TUTTI_ASSIGN(const auto piece, place(state, slice, i));
      TUTTI_TRY(check_written(state, slice, i));
      loaded.bytes.insert(loaded.bytes.end(), piece.begin(), piece.end());
      loaded.sizes.push_back(piece.size());
    }
    return loaded;
  };
  const bool sums = reduces(plan_.collective);
  const auto accumulator = create_accumulator(options_.type, sums ? options_.op : Op::sum, plan_.ranks);
  bool is_first = step.receive_from == kNoRank;
  state.value = received;
  if (!is_first) accumulator->assign(received.bytes);
  for (const Slice& source : state.lane->sources(step)) {
    TUTTI_ASSIGN(Value loaded, gather(source));
    if (!is_first && loaded.sizes != state.value.sizes) {
      return fault(state, fmt::format("{} has another size than the value", print(source, state.rank)));
    }
    const bool is_input = sums && source.buffer == Buffer::in;
    const double factor = options_.factors.empty() ? 1 : options_.factors[static_cast<std::size_t>(source.owner)];
    if (is_first) {
      is_input ? accumulator->assign_input(loaded.bytes, factor) : accumulator->assign(loaded.bytes);
      state.value = std::move(loaded);
    } else {
      is_input ? accumulator->add_input(loaded.bytes, factor) : accumulator->add(loaded.bytes);
    }
    is_first = false;
  }
  if (is_copy(state, step)) return {};
  if (step.finish) accumulator->finish();
  accumulator->store(state.value.bytes);
  return {};
}

// One source, neither multiplied nor divided: its bits stay as they are.
bool Interpreter::is_copy(const LaneState& state, const Step& step) const {
  const bool has_received = step.receive_from != kNoRank;
  if (step.source_count + (has_received ? 1 : 0) != 1) return false;
  if (!reduces(plan_.collective)) return true;
  const bool is_input = !has_received && state.lane->sources(step)[0].buffer == Buffer::in;
  if (is_input && scales_inputs(options_.type, options_.op)) return false;
  return !step.finish || !divides_sums(options_.type, options_.op, plan_.ranks);
}

Status Interpreter::end(LaneState& state) {
  const Step& step = (*state.lane)[state.step];
  for (const Slice& target : state.lane->targets(step)) {
    if (target.count != state.value.sizes.size()) return fault(state, "stores to another number of chunks");
    std::size_t offset = 0;
    for (std::uint32_t i = 0; i < target.count; ++i) {
      const std::size_t size = state.value.sizes[i];
      make_room(state, target, i, size);
      TUTTI_ASSIGN(const auto piece, place(state, target, i));
      if (piece.size() != size) return fault(state, "stores to a place of another size");
      if (size > 0) std::memcpy(piece.data(), state.value.bytes.data() + offset, size);
      const bool is_changed = !is_plain_copy_onto_itself(state, step, target, i);
      if (target.buffer == Buffer::out && is_changed) written_.insert({target.owner, target.at(i), state.tile});
      offset += size;
    }
  }
  for (const Rank peer : state.lane->waits(step)) pipes_[{peer, state.rank, state.index}].pop_front();
  if (step.receive_from != kNoRank) pipes_[{step.receive_from, state.rank, state.index}].pop_front();
  if (step.send_to != kNoRank) pipes_[{state.rank, step.send_to, state.index}].push_back({false, state.value});
  for (const Rank peer : state.lane->signals(step)) pipes_[{state.rank, peer, state.index}].push_back({true, {}});
  state.is_open = false;
  state.touches.clear();
  if (++state.step == state.lane->size()) {
    state.step = 0;
    ++state.tile;
  }
  return check_leavers(state.rank);
}

// Scratch and stages take what is stored there, whatever its size.
void Interpreter::make_room(LaneState& state, const Slice& target, std::uint32_t i, std::size_t size) {
  if (target.buffer == Buffer::scratch) state.scratch[target.at(i)].resize(size);
  if (target.buffer != Buffer::stage) return;
  Staged& staged = stages_[{target.owner, target.at(i), state.tile % stage_tiles_}];
  staged.tile = state.tile;
  staged.bytes.resize(size);
}

Result<std::span<std::byte>> Interpreter::staged(const LaneState& state, const Slice& slice, std::uint32_t i) {
  const auto found = stages_.find({slice.owner, slice.at(i), state.tile % stage_tiles_});
  if (found == stages_.end() || found->second.tile < state.tile) {
    return fault(state, fmt::format("loads {} before anything is stored there", print(slice, state.rank)));
  }
  if (found->second.tile > state.tile) {
    return fault(state, fmt::format("loads {} after a later tile took its place", print(slice, state.rank)));
  }
  return std::span<std::byte>(found->second.bytes);
}

// The bytes of this tile of one chunk of a slice.
Result<std::span<std::byte>> Interpreter::place(LaneState& state, const Slice& slice, std::uint32_t i) {
  if (slice.buffer == Buffer::stage) return staged(state, slice, i);
  if (slice.buffer == Buffer::scratch) {
    const auto found = state.scratch.find(slice.at(i));
    if (found == state.scratch.end()) return fault(state, "loads scratch before anything is stored there");
    return std::span<std::byte>(found->second);
  }
  if (!has_chunk(plan_, slice.owner, slice.buffer, slice.at(i))) {
    return fault(state, fmt::format("{} leaves the buffer", print(slice, state.rank)));
  }
  const auto owner = static_cast<std::size_t>(slice.owner);
  Extent extent = maps_[owner].of(slice.buffer).of(slice.at(i));
  if (options_.tile_elements > 0) {
    const std::uint64_t skip = std::min(extent.elements, state.tile * options_.tile_elements);
    extent = {extent.offset + skip, std::min(extent.elements - skip, options_.tile_elements)};
  }
  auto& memory = slice.buffer == Buffer::in && !options_.in_place ? memories_.in[owner] : memories_.out[owner];
  return std::span(memory).subspan(extent.offset * element_bytes_, extent.elements * element_bytes_);
}

// An output holds nothing at first, but for an input in the same place.
Status Interpreter::check_written(const LaneState& state, const Slice& source, std::uint32_t i) const {
  const bool is_written = written_.contains({source.owner, source.at(i), state.tile});
  if (source.buffer == Buffer::in && options_.in_place && is_written) {
    return fault(state, fmt::format("loads {} after it was overwritten in place", print(source, state.rank)));
  }
  if (source.buffer != Buffer::out || is_written) return {};
  if (options_.in_place && has_chunk(plan_, source.owner, Buffer::in, source.at(i))) return {};
  return fault(state, fmt::format("loads {} before anything is stored there", print(source, state.rank)));
}

bool Interpreter::is_plain_copy_onto_itself(const LaneState& state, const Step& step, const Slice& target,
                                            std::uint32_t i) const {
  if (step.receive_from != kNoRank || step.source_count != 1 || step.finish) return false;
  const Slice& source = state.lane->sources(step)[0];
  if (reduces(plan_.collective) && source.buffer == Buffer::in) return false;  // scaled where the operation says so
  const auto is_callers = [](const Slice& slice) { return slice.buffer == Buffer::in || slice.buffer == Buffer::out; };
  const bool is_one_buffer = source.buffer == target.buffer && source.buffer != Buffer::scratch;
  return (is_one_buffer || (options_.in_place && is_callers(source) && is_callers(target))) &&
         source.owner == target.owner && source.count == target.count && source.at(i) == target.at(i);
}

Status Interpreter::note_touches(LaneState& state, const Step& step) {
  const auto note = [&](const Slice& slice, std::uint32_t i, bool is_write) {
    if (slice.buffer == Buffer::stage) {
      state.touches.push_back({slice.owner, Buffer::stage, slice.at(i), state.tile % stage_tiles_, is_write});
      return;
    }
    const Buffer buffer = options_.in_place ? Buffer::out : slice.buffer;
    state.touches.push_back({slice.owner, buffer, slice.at(i), state.tile, is_write});
  };
  const auto check_owner = [&](const Slice& slice) -> Status {
    if (slice.owner == state.rank || slice.count == 0 || slice.buffer == Buffer::stage) return {};
    if (!has_entered_[static_cast<std::size_t>(slice.owner)]) {
      return fault(state, fmt::format("reaches rank {} before it has entered", slice.owner));
    }
    if (has_left_[static_cast<std::size_t>(slice.owner)]) {
      return fault(state, fmt::format("reaches rank {} after it has left", slice.owner));
    }
    return {};
  };
  for (const Slice& source : state.lane->sources(step)) {
    TUTTI_TRY(check_owner(source));
    for (std::uint32_t i = 0; i < source.count && source.buffer != Buffer::scratch; ++i) note(source, i, false);
  }
  for (const Slice& target : state.lane->targets(step)) {
    TUTTI_TRY(check_owner(target));
    for (std::uint32_t i = 0; i < target.count && target.buffer != Buffer::scratch; ++i) {
      if (!is_plain_copy_onto_itself(state, step, target, i)) note(target, i, true);
    }
  }
  return {};
}

// Two steps at work at the same time must not touch the same chunk unless both read.
Status Interpreter::check_overlap(const LaneState& state) const {
  for (const LaneState& other : lanes_) {
    if (!other.is_open || &other == &state) continue;
    for (const Touch& mine : state.touches) {
      for (const Touch& theirs : other.touches) {
        const bool same = mine.owner == theirs.owner && mine.buffer == theirs.buffer && mine.chunk == theirs.chunk &&
                          mine.tile == theirs.tile;
        if (same && (mine.is_write || theirs.is_write)) {
          return fault(state, fmt::format("touches chunk {} of rank {} while rank {} lane {} step {} does", mine.chunk,
                                          mine.owner, other.rank, other.index, other.step));
        }
      }
    }
  }
  return {};
}

Status Interpreter::check_leavers(Rank rank) {
  for (const LaneState& state : lanes_) {
    if (state.rank == rank && !state.is_done(tiles_)) return {};
  }
  has_left_[static_cast<std::size_t>(rank)] = true;
  const auto missing = std::find(has_entered_.begin(), has_entered_.end(), false);
  if (plan_.collective == Collective::barrier && missing != has_entered_.end()) {
    return {Code::internal,
            fmt::format("rank {} leaves the barrier before rank {} has entered", rank, missing - has_entered_.begin())};
  }
  for (const LaneState& state : lanes_) {
    for (const Touch& touch : state.touches) {
      const bool outlives_call = touch.buffer == Buffer::stage;
      if (state.is_open && touch.owner == rank && state.rank != rank && !outlives_call) {
        return fault(state, fmt::format("still reaches rank {}, which has left", rank));
      }
    }
  }
  return {};
}

Memories create_memories(const std::vector<ChunkMap>& maps, DataType type) {
  Memories memories;
  for (const ChunkMap& map : maps) {
    memories.in.emplace_back(map.in.end() * size_of(type));
    memories.out.emplace_back(map.out.end() * size_of(type));
  }
  return memories;
}

Status interpret(const Plan& plan, const std::vector<ChunkMap>& maps, const InterpretOptions& options,
                 Memories& memories) {
  const auto ranks = static_cast<std::size_t>(plan.ranks);
  if (maps.size() != ranks || memories.in.size() != ranks || memories.out.size() != ranks) {
    return invalid_argument(fmt::format("maps and memories are needed for each of {} ranks", ranks));
  }
  if (!options.factors.empty() && options.factors.size() != ranks) {
    return invalid_argument(fmt::format("{} factors are given for {} ranks", options.factors.size(), ranks));
  }
  return Interpreter(plan, maps, options, memories, {.seed = options.seed}).run();
}

}  // namespace tutti::plan

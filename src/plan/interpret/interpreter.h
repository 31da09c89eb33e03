// The interpreter with its lid off: steps that begin and end, ranks that come late, and what is seen to go wrong.
// Tests use it as a witness against the checker, with which it shares no code but the promise of each collective.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "base/arithmetic.h"
#include "base/random.h"
#include "tutti/interpret.h"

namespace tutti::plan {

struct Schedule {
  std::uint64_t seed = 0;
  std::optional<std::uint32_t> slots = {};  // instead of the plan's
  // Begin this step (rank, lane, step) as soon as it can and put off its end until nothing else can happen.
  std::optional<std::tuple<Rank, std::uint32_t, std::uint32_t>> held_step = {};
  // This rank enters the call when nothing else can happen.
  std::optional<Rank> late_rank = {};
  std::optional<std::uint32_t> stage_tiles = {};  // tiles that a stage has room for; unless given, drawn from the seed
  bool keeps_stage_rule = true;  // no tile begins before the last one in its place has ended everywhere
};

class Interpreter {
 public:
  Interpreter(const Plan& plan, const std::vector<ChunkMap>& maps, const InterpretOptions& options, Memories& memories,
              const Schedule& schedule);

  // Runs to the end, or to the first thing that is seen to go wrong: that is the failure.
  Status run();

 private:
  // The elements of a step's value, and how many bytes of them belong to each of its chunks.
  struct Value {
    std::vector<std::byte> bytes = {};
    std::vector<std::size_t> sizes = {};
  };
  struct Message {
    bool is_token;
    Value value;
  };
  struct Touch {
    Rank owner;
    Buffer buffer;  // in place: out also stands for in
    std::uint32_t chunk;
    std::uint64_t tile;  // of a stage: the place that the tile has there
    bool is_write;
  };
  struct LaneState {
    Rank rank;
    std::uint32_t index;
    const Lane* lane;
    std::size_t step = 0;
    std::uint64_t tile = 0;
    bool is_open = false;
    Value value = {};
    std::vector<Touch> touches = {};
    std::map<std::uint32_t, std::vector<std::byte>> scratch = {};
    bool is_done(std::uint64_t tiles) const { return lane->empty() || tile == tiles; }
  };
  // One tile of a chunk of a stage.
  struct Staged {
    std::uint64_t tile;
    std::vector<std::byte> bytes;
  };
  using PipeKey = std::tuple<Rank, Rank, std::uint32_t>;
  using StageKey = std::tuple<Rank, std::uint32_t, std::uint64_t>;  // owner, chunk, place

  bool can_begin(LaneState& state);
  bool has_place_in_stages(const LaneState& state) const;
  Status begin(LaneState& state);
  Status end(LaneState& state);
  Status take_messages(LaneState& state, const Step& step, Value& received);
  Status compute(LaneState& state, const Step& step, const Value& received);
  bool is_copy(const LaneState& state, const Step& step) const;
  Status note_touches(LaneState& state, const Step& step);
  Status check_overlap(const LaneState& state) const;
  Status check_leavers(Rank rank);
  void make_room(LaneState& state, const Slice& target, std::uint32_t i, std::size_t size);
  Result<std::span<std::byte>> place(LaneState& state, const Slice& slice, std::uint32_t i);
  Result<std::span<std::byte>> staged(const LaneState& state, const Slice& slice, std::uint32_t i);
  Status check_written(const LaneState& state, const Slice& source, std::uint32_t i) const;
  bool is_plain_copy_onto_itself(const LaneState& state, const Step& step, const Slice& target, std::uint32_t i) const;
  std::uint64_t tile_count() const;
  Status fault(const LaneState& state, std::string text) const;
  Status stuck() const;

  const Plan& plan_;
  const std::vector<ChunkMap>& maps_;
  InterpretOptions options_;
  Memories& memories_;
  Schedule schedule_;
  Random random_;
  std::size_t element_bytes_;
  std::uint64_t tiles_ = 1;
  std::uint32_t slots_;
  bool uses_stage_;
  std::uint64_t stage_tiles_ = 1;
  std::vector<LaneState> lanes_;
  std::vector<bool> has_entered_;
  std::vector<bool> has_left_;
  std::map<PipeKey, std::deque<Message>> pipes_;
  std::set<std::tuple<Rank, std::uint32_t, std::uint64_t>> written_;  // chunks of outputs, per tile
  std::map<StageKey, Staged> stages_;
};

}  // namespace tutti::plan

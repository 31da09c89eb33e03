// A collective as a value: for each rank, lanes of steps. Built by algorithms, proved by the checker, run by engines,
// timed by the simulator, printed for people. Plans speak of chunks, never of bytes: a ChunkMap adds those at launch.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/status.h"
#include "tutti/types.h"

namespace tutti::plan {

// The variable-count forms (all_gather_v and so on) are the same plans under another ChunkMap.
enum class Collective : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  gather,
  scatter,
  all_to_all,
  barrier,
  send_receive,
};
inline constexpr std::array kCollectives = {
    Collective::all_reduce, Collective::all_gather,   Collective::reduce_scatter, Collective::broadcast,
    Collective::reduce,     Collective::gather,       Collective::scatter,        Collective::all_to_all,
    Collective::barrier,    Collective::send_receive,
};

std::string_view name_of(Collective collective);
std::optional<Collective> collective_of(std::string_view name);  // accepts the variable-count names too
// Contributions are added up.
constexpr bool reduces(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce_scatter ||
         collective == Collective::reduce;
}
constexpr bool has_root(Collective collective) {
  return collective == Collective::broadcast || collective == Collective::reduce || collective == Collective::gather ||
         collective == Collective::scatter || collective == Collective::send_receive;
}
// Chunks form one block per rank, as in all_gather.
constexpr bool has_blocks(Collective collective) {
  return collective == Collective::all_gather || collective == Collective::reduce_scatter ||
         collective == Collective::gather || collective == Collective::scatter || collective == Collective::all_to_all;
}
constexpr bool has_variable_form(Collective collective) { return has_blocks(collective); }

// The caller's input, the caller's output, the lane's own space for one tile of each scratch chunk, or the rank's
// staging area: one tile of each stage chunk, which the ranks of its domain load from and store to. In and out may be
// the same memory: in[c] and out[c] are then one place. Scratch and stage hold nothing when a tile begins.
enum class Buffer : std::uint8_t { in, out, scratch, stage };
inline constexpr std::array kBuffers = {Buffer::in, Buffer::out, Buffer::scratch, Buffer::stage};
std::string_view name_of(Buffer buffer);

// What the ranks of a domain may do with each other's memory; each level allows what the ones before it do.
//   none: nothing, they meet through pipes only;  stage: load from and store to each other's stages;
//   load: also load from their in and out;        full: also store to their out.
enum class Reach : std::uint8_t { none, stage, load, full };
inline constexpr std::array kReaches = {Reach::none, Reach::stage, Reach::load, Reach::full};
std::string_view name_of(Reach reach);
std::optional<Reach> reach_of(std::string_view name);

// `count` chunks, `stride` apart, of one buffer of one rank. An owner other than the rank itself is a reach.
struct Slice {
  Rank owner = kNoRank;
  std::uint32_t chunk = 0;
  std::uint32_t count = 1;
  std::uint16_t stride = 1;
  Buffer buffer = Buffer::in;

  std::uint32_t at(std::uint32_t i) const { return chunk + i * stride; }
  bool operator==(const Slice&) const = default;
};

// A step of another lane of the same rank.
struct Point {
  std::uint32_t lane = 0;
  std::uint32_t step = 0;
  bool operator==(const Point&) const = default;
};

// Everything a step may do, in this order; each part is optional:
//   wait for the points in `after`; take a token from each rank in `waits`;
//   value = receive_from ? receive : load(first source); value = value (+) load(each further source);
//   if finish: value = what the operation does to a complete sum (an average divides);
//   store the value to every target; send it to `send_to`; send a token to each rank in `signals`.
// Loading an input of a reduction applies what the operation does to inputs (a scaled sum multiplies). Any other plain
// copy onto the place it was loaded from, as happens in place, touches nothing.
// A step runs as a whole: it begins when all it takes is there and every pipe it writes has a free slot.
// The lists live in the lane's pools, so that a step is 32 bytes and a lane can be shipped as flat arrays.
struct Step {
  Rank receive_from = kNoRank;
  Rank send_to = kNoRank;
  std::uint32_t first_slice = 0;  // sources, then targets
  std::uint32_t first_peer = 0;   // waits, then signals
  std::uint32_t first_point = 0;
  std::uint16_t source_count = 0;
  std::uint16_t target_count = 0;
  std::uint16_t wait_count = 0;
  std::uint16_t signal_count = 0;
  std::uint16_t after_count = 0;
  bool finish = false;

  bool has_value() const { return receive_from != kNoRank || source_count > 0; }
  bool operator==(const Step&) const = default;
};

static_assert(sizeof(Step) == 32);

class StepWriter;

// A sequence of steps, run in order, once per tile.
class Lane {
 public:
  std::size_t size() const { return steps_.size(); }
  bool empty() const { return steps_.empty(); }
  const Step& operator[](std::size_t i) const { return steps_[i]; }

  std::span<const Slice> sources(const Step& s) const { return {slices_.data() + s.first_slice, s.source_count}; }
  std::span<const Slice> targets(const Step& s) const {
    return {slices_.data() + s.first_slice + s.source_count, s.target_count};
  }
  std::span<const Rank> waits(const Step& s) const { return {peers_.data() + s.first_peer, s.wait_count}; }
  std::span<const Rank> signals(const Step& s) const {
    return {peers_.data() + s.first_peer + s.wait_count, s.signal_count};
  }
  std::span<const Point> after(const Step& s) const { return {points_.data() + s.first_point, s.after_count}; }

  // Appends an empty step; the writer fills it in the order of the step rule.
  StepWriter step();

  std::size_t bytes() const {  // that its lists take
    return steps_.capacity() * sizeof(Step) + slices_.capacity() * sizeof(Slice) + peers_.capacity() * sizeof(Rank) +
           points_.capacity() * sizeof(Point);
  }

  bool operator==(const Lane& other) const = default;

 private:
  friend class StepWriter;
  std::vector<Step> steps_;
  std::vector<Slice> slices_;
  std::vector<Rank> peers_;
  std::vector<Point> points_;
};

// Fills the last step of a lane: lane.step().receive(3).load(in(2)).store(out(2)).send(1).
// Calls come in the order of the step rule (after, wait, receive, load, finish, store, send, signal).
class StepWriter {
 public:
  explicit StepWriter(Lane& lane) : lane_(lane) {}
  StepWriter& after(Point point);
  StepWriter& wait(Rank peer);
  StepWriter& receive(Rank peer);
  StepWriter& load(const Slice& source);
  StepWriter& finish(bool finish = true);
  StepWriter& store(const Slice& target);
  StepWriter& send(Rank peer);
  StepWriter& signal(Rank peer);
  StepWriter& wait(std::span<const Rank> peers);
  StepWriter& load(std::span<const Slice> sources);
  StepWriter& store(std::span<const Slice> targets);
  StepWriter& signal(std::span<const Rank> peers);
  StepWriter& after(std::span<const Point> points);

 private:
  Step& step() { return lane_.steps_.back(); }
  Lane& lane_;
};

inline StepWriter Lane::step() {
  Step step;
  step.first_slice = static_cast<std::uint32_t>(slices_.size());
  step.first_peer = static_cast<std::uint32_t>(peers_.size());
  step.first_point = static_cast<std::uint32_t>(points_.size());
  steps_.push_back(step);
  return StepWriter(*this);
}

// What one rank does.
struct Program {
  std::vector<Lane> lanes;
  bool operator==(const Program&) const = default;
};

// What the ranks of a call agree on beside their programs.
struct Header {
  std::string algorithm;
  Collective collective = Collective::all_reduce;
  Rank ranks = 0;
  Rank root = 0;  // of rooted collectives; the sender of send_receive
  Rank peer = 0;  // the receiver of send_receive
  std::uint32_t chunks = 0;
  std::uint32_t slots = 2;               // messages a pipe must hold for the plan not to block for ever
  Reach reach = Reach::none;             // what the ranks of one domain may do with each other's memory
  std::vector<std::uint32_t> domain_of;  // per rank; empty exactly where reach is none

  bool shares_domain(Rank a, Rank b) const {
    return a == b ||
           (!domain_of.empty() && domain_of[static_cast<std::size_t>(a)] == domain_of[static_cast<std::size_t>(b)]);
  }
  bool may_load(Rank rank, const Slice& source) const {
    if (source.owner == rank) return source.buffer != Buffer::stage || reach != Reach::none;
    if (source.buffer == Buffer::scratch || !shares_domain(rank, source.owner)) return false;
    return reach >= (source.buffer == Buffer::stage ? Reach::stage : Reach::load);
  }
  bool may_store(Rank rank, const Slice& target) const {
    if (target.buffer == Buffer::in) return false;
    if (target.owner == rank) return target.buffer != Buffer::stage || reach != Reach::none;
    if (target.buffer == Buffer::scratch || !shares_domain(rank, target.owner)) return false;
    return reach >= (target.buffer == Buffer::stage ? Reach::stage : Reach::full);
  }
  bool operator==(const Header&) const = default;
};

struct Plan : Header {
  std::vector<Program> programs;  // one per rank
  bool operator==(const Plan&) const = default;

  std::size_t step_count() const;
};

// Whether any step touches a stage. Engines keep a rule for such plans, between tiles and between calls: a rank begins
// a tile only when every rank of its domain has ended the tile that used the same place in the stages (a stage has room
// for one or more tiles, used in turn). So a rank may end a call while others still load from its stage.
bool uses_stage(const Program& program);
bool uses_stage(const Plan& plan);

// The text form: parse(print(plan)) == plan. A parse error names the line, what stands there and what is expected.
std::string print(const Plan& plan);
std::string print(const Slice& slice, Rank self);
std::string print_step(const Lane& lane, std::size_t step, Rank self);
Result<Plan> parse(std::string_view text);

// What is wanted of a plan, before an algorithm is chosen.
struct Shape {
  Collective collective = Collective::all_reduce;
  Rank ranks = 1;
  Rank root = 0;
  Rank peer = 0;
  std::uint32_t lanes = 1;
  bool in_place = false;
  Reach reach = Reach::none;           // what ranks of one host may do with each other's memory
  std::vector<std::uint32_t> host_of;  // per rank; empty: all on one host
  // Rings to run through, one per lane, repeated when there are more lanes; empty: by rank.
  std::vector<std::vector<Rank>> orders;
};

struct Algorithm {
  std::string_view name;
  Collective collective;
  std::string_view summary;
  std::string_view needs;  // what fits() asks of the shape, for people
  bool (*fits)(const Shape&);
  std::uint32_t (*blocks)(const Shape&);  // chunks a lane divides the data into
  void (*build)(const class Setting&, Rank me, Program&);
  Reach reach = Reach::none;  // the least that fits() asks for
  bool only_reaches = false;  // no data goes through pipes, so there are no slots that tiles must fit
  // Its plans use stages, on every rank or on some, and tiles must fit there. Hierarchical ones do so where the reach
  // of the shape is less than full, and do not say it here.
  bool uses_stage = false;
};

std::span<const Algorithm> algorithms();
const Algorithm* find_algorithm(std::string_view name, Collective collective);
Status validate(const Shape& shape);

// Why an algorithm and a shape do not go together comes back as invalid_argument.
Result<Plan> build(const Algorithm& algorithm, const Shape& shape);
// The same program that build() makes for this rank, without building those of the others.
Result<Program> build_program(const Algorithm& algorithm, const Shape& shape, Rank rank);

}  // namespace tutti::plan

#include "planner/local.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "tutti/chunk_map.h"

namespace tutti::planner {

namespace {

using namespace plan;

// Lines of another's output lie in its cache more often than those of its input: storing there takes a little longer
// than loading.
constexpr double kStoringToOthers = 1.1;

constexpr double kThroughBounce = 2.5;

// What one rank's program does, in bytes and in times that it has to wait for somebody.
struct Load {
  double loaded = 0;
  double stored = 0;
  double moved = 0;  // lines that change hands: counted with what loads or stores them
  double messages = 0;
  double pulled = 0;  // or pushed: copied by the kernel
  double pulled_pieces = 0;
  double of_callers = 0;  // what of all this is in callers' buffers
  double staged = 0;      // into its own stage
  double rounds = 0;
  double steps = 0;
  double widest = 0;  // most ranks that one step waits for
};

class Estimate {
 public:
  Estimate(const LocalMachine& machine, const Request& request, const Candidate& candidate, bool is_mapped)
      : machine_(machine), request_(request), candidate_(candidate), is_mapped_(is_mapped) {
    header_.collective = candidate.shape.collective;
    header_.ranks = candidate.shape.ranks;
    header_.chunks = candidate.algorithm->blocks(candidate.shape) * candidate.shape.lanes;
    if (header_.chunks > 0) layout_ = even_maps(header_, request.elements)[0].in;
  }

  // The slowest of the ranks that can differ: the root, its peer, the first and the last. Of a message it is both ends
  // together, because most ranks that send one receive another at the same time.
  double seconds() const {
    double slowest = 0;
    const Shape& shape = candidate_.shape;
    if (shape.collective == Collective::send_receive) return seconds_of_rank(shape.root) + seconds_of_rank(shape.peer);
    for (const Rank rank : {shape.root, shape.peer, Rank{0}, shape.ranks - 1}) {
      slowest = std::max(slowest, seconds_of_rank(rank));
    }
    return slowest;
  }

 private:
  double seconds_of_rank(Rank rank) const {
    const auto program = build_program(*candidate_.algorithm, candidate_.shape, rank);
    return program ? seconds_of(measure(*program, rank)) : 0;
  }

  Load measure(const Program& program, Rank rank) const {
    Load load;
    const bool echoes = stores_to_others_stages(program, rank);
    for (const Lane& lane : program.lanes) {
      double staged = 0;
      bool has_spoken = true;
      for (std::size_t i = 0; i < lane.size(); ++i) {
        const Step& step = lane[i];
        staged += count_value(lane, step, rank, echoes, load);
        // What comes in while this rank has nothing new to say comes in the same round.
        const bool waits = step.wait_count > 0 || step.receive_from != kNoRank;
        if (waits && has_spoken) ++load.rounds;
        has_spoken = (has_spoken && !waits) || step.signal_count > 0 || step.send_to != kNoRank;
        load.widest = std::max(load.widest, static_cast<double>(step.wait_count));
        ++load.steps;
      }
      load.staged = std::max(load.staged, staged);
    }
    return load;
  }

  // What of it goes to the rank's own stage.
  double count_value(const Lane& lane, const Step& step, Rank rank, bool echoes, Load& load) const {
    const auto targets = lane.targets(step);
    const auto stays = [&](const Slice& target) { return stays_in_place(lane.sources(step), target, rank); };
    const bool moves = step.send_to != kNoRank || !std::all_of(targets.begin(), targets.end(), stays);
    if (!moves && step.receive_from == kNoRank) return 0;
    // The kernel loads and stores what it copies; what is added up goes through a bounce, a piece at a time.
    const bool is_kernels = step.source_count == 1 && reaches_by_kernel(lane, step, rank);
    const double pulled_before = load.pulled;
    double value = 0;
    double staged = 0;
    for (const Slice& source : lane.sources(step)) {
      value = bytes_of(source);
      load.of_callers += source.buffer == Buffer::stage ? 0 : value;
      if (is_by_kernel(source, rank) || !is_kernels) count_load(source, rank, echoes, value, load);
    }
    for (const Slice& target : targets) {
      value = bytes_of(target);
      if (stays(target)) continue;
      load.of_callers += target.buffer == Buffer::stage ? 0 : value;
      if (is_by_kernel(target, rank) || !is_kernels) count_store(target, rank, echoes, value, load);
      if (target.buffer == Buffer::stage && target.owner == rank) staged += value;
    }
    if (!is_kernels) load.pulled += (kThroughBounce - 1) * (load.pulled - pulled_before);
    for (const bool is_there : {step.receive_from != kNoRank, step.send_to != kNoRank}) {
      if (!is_there) continue;
      load.moved += value;
      ++load.messages;
    }
    if (step.receive_from != kNoRank) load.loaded += value;
    if (step.send_to != kNoRank) load.stored += value;
    return staged;
  }

  // Plans that are right in place run most calls that are not; but a broadcast mostly has one buffer on every rank.
  bool stays_in_place(std::span<const Slice> sources, const Slice& target, Rank rank) const {
    const bool is_usual = candidate_.shape.in_place && candidate_.shape.collective == Collective::broadcast;
    if (!is_usual || sources.size() != 1 || target.buffer != Buffer::out) return false;
    const Slice& source = sources[0];
    return source.buffer == Buffer::in && source.owner == rank && target.owner == rank && source.chunk == target.chunk;
  }

  bool is_by_kernel(const Slice& slice, Rank rank) const {
    return !is_mapped_ && slice.owner != rank && slice.buffer != Buffer::stage;
  }

  bool reaches_by_kernel(const Lane& lane, const Step& step, Rank rank) const {
    const auto sources = lane.sources(step);
    const auto targets = lane.targets(step);
    const auto reaches = [&](const Slice& slice) { return is_by_kernel(slice, rank); };
    return std::any_of(sources.begin(), sources.end(), reaches) || std::any_of(targets.begin(), targets.end(), reaches);
  }

  void count_load(const Slice& source, Rank rank, bool echoes, double value, Load& load) const {
    const bool is_anothers = source.owner != rank;
    if (is_by_kernel(source, rank)) {
      load.pulled += value;
      load.pulled_pieces += source.count;
      return;
    }
    load.loaded += value;
    // Of callers' buffers, which are large and old, about half still lies in somebody's cache.
    if (source.buffer != Buffer::stage) load.moved += is_anothers ? value / 2 : 0;
    if (source.buffer == Buffer::stage && (is_anothers || echoes)) load.moved += value;
  }

  void count_store(const Slice& target, Rank rank, bool echoes, double value, Load& load) const {
    if (is_by_kernel(target, rank)) {
      load.pulled += kStoringToOthers * value;
      load.pulled_pieces += target.count;
      return;
    }
    load.stored += value;
    // A place that others have loaded from has to be taken back, unless what they stored there was loaded since.
    if (target.owner != rank && target.buffer == Buffer::out) load.moved += kStoringToOthers * value / 2;
    if (target.buffer == Buffer::stage && !echoes) load.moved += value;
  }

  static bool stores_to_others_stages(const Program& program, Rank rank) {
    for (const Lane& lane : program.lanes) {
      for (std::size_t i = 0; i < lane.size(); ++i) {
        for (const Slice& target : lane.targets(lane[i])) {
          if (target.buffer == Buffer::stage && target.owner != rank) return true;
        }
      }
    }
    return false;
  }

  double seconds_of(const Load& load) const {
    // Ranks that share a core wait for each other's work too.
    const double crowd = std::max(1.0, static_cast<double>(machine_.ranks) / machine_.cores);
    double round = machine_.signal_s * (1 + load.widest / 16);
    // Every other rank of the core looks, finds nothing and gives it away, before and after the one that is waited for.
    if (crowd > 1) round = 2 * machine_.switch_s * crowd;
    // Data that comes with its signal saves the way of a line.
    const bool is_flash = load.staged <= static_cast<double>(machine_.flash_bytes) && load.staged > 0;
    const double transfer = is_flash ? 0 : machine_.signal_s * load.rounds;
    const double tiles =
        std::max(1.0, 2 * load.staged / std::max<double>(1.0, static_cast<double>(machine_.outbox_bytes)));
    const bool is_cached = load.of_callers * crowd <= static_cast<double>(machine_.cache_bytes);
    const bool is_far = load.of_callers * machine_.ranks > static_cast<double>(machine_.far_bytes);
    const double memory = (is_cached ? 0 : load.of_callers / machine_.memory_bytes_per_s) +
                          (is_far ? load.pulled / machine_.far_pull_bytes_per_s : 0);
    const double work = memory + load.loaded / machine_.load_bytes_per_s + load.stored / machine_.store_bytes_per_s +
                        load.moved / machine_.move_bytes_per_s + load.messages * machine_.message_s +
                        load.pulled / machine_.pull_bytes_per_s + load.pulled_pieces * machine_.pull_s +
                        load.steps * tiles * machine_.step_s;
    return work * crowd + std::ceil(tiles) * load.rounds * round + transfer;
  }

  double bytes_of(const Slice& slice) const {
    std::uint64_t elements = 0;
    for (std::uint32_t i = 0; i < slice.count; ++i) {
      // Stage chunks beyond the data hold results: they are as large as the first.
      const std::uint32_t chunk = slice.at(i) < layout_.chunk_count() ? slice.at(i) : 0;
      if (layout_.chunk_count() > 0) elements += layout_.of(chunk).elements;
    }
    return static_cast<double>(elements * request_.element_bytes);
  }

  const LocalMachine& machine_;
  const Request& request_;
  const Candidate& candidate_;
  bool is_mapped_;
  Header header_;
  Layout layout_;
};

}  // namespace

std::vector<Candidate> rank_local(const LocalMachine& machine, const Request& request, const Access& access) {
  std::vector<Candidate> ranked;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.collective != request.collective) continue;
    // A plan is built for the least reach it can do with: it then runs wherever there is more.
    for (const Reach level : kReaches) {
      if (level > access.reach || (level >= Reach::load && !machine.can_pull && !access.is_mapped)) continue;
      Candidate candidate;
      candidate.algorithm = &algorithm;
      candidate.shape.collective = request.collective;
      candidate.shape.ranks = machine.ranks;
      candidate.shape.root = request.root;
      candidate.shape.peer = request.peer;
      candidate.shape.in_place = request.in_place;
      candidate.shape.reach = level;
      if (!algorithm.fits(candidate.shape)) continue;
      // With all memory mapped nothing needs to be pulled.
      if (access.is_mapped && level == Reach::load) candidate.shape.reach = Reach::full;
      candidate.estimate_s = Estimate(machine, request, candidate, access.is_mapped).seconds();
      ranked.push_back(std::move(candidate));
      break;
    }
  }
  // A pipe is a stage with tokens, copies and turns of its own: never better where ranks have stages. Its chains of
  // hops would also need a simulation to be seen.
  const auto order = [](const Candidate& candidate) {
    return std::pair(candidate.shape.reach == Reach::none, candidate.estimate_s);
  };
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](const Candidate& a, const Candidate& b) { return order(a) < order(b); });
  return ranked;
}

std::string explain_local(const LocalMachine& machine, const Request& request, const std::vector<Candidate>& ranked) {
  if (ranked.empty()) return "no algorithm fits";
  std::string answer =
      fmt::format("{} {} over {} ranks on {} cores: {}", ranked[0].algorithm->name, name_of(request.collective),
                  machine.ranks, machine.cores, text::seconds_text(ranked[0].estimate_s));
  answer += fmt::format("\n  {}", ranked[0].algorithm->summary);
  for (std::size_t i = 1; i < std::min<std::size_t>(ranked.size(), 5); ++i) {
    answer += fmt::format("\n  {} would take {}", ranked[i].algorithm->name, text::seconds_text(ranked[i].estimate_s));
  }
  return answer;
}

}  // namespace tutti::planner

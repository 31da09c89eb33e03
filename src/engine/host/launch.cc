#include "engine/host/launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/host/forwarding.h"
#include "transport/block.h"

namespace tutti::engine {

namespace {

using namespace plan;

constexpr std::uint64_t kLine = transport::kLine;
// A tile is a whole number of elements of every type and of every custom element up to this size.
constexpr std::uint64_t kTileQuantum = 64;

// Where there is room a stage has more than two tiles, so that a rank that only stages runs ahead of those that take;
// not much more, because all of it goes around in the caches.
constexpr std::uint64_t kDeepStageBytes = 1 << 20;
constexpr std::uint64_t kStageTilesMax = 8;

std::uint64_t mix(std::uint64_t hash, std::uint64_t part) {
  hash = (hash ^ part) * 0xff51afd7ed558ccd;
  return hash ^ (hash >> 33);
}

std::uint64_t round_down(std::uint64_t value, std::uint64_t quantum) { return value / quantum * quantum; }

Result<OutboxLayout> lay_out(const Prepared& prepared, std::uint64_t outbox_bytes, std::uint64_t tile_bytes_max,
                             std::uint64_t element_bytes) {
  OutboxLayout layout;
  layout.stage_chunks = prepared.stage_chunks;
  layout.value_chunks = prepared.value_chunks;
  layout.slots = std::max(prepared.header.slots, 2u);
  for (const PreparedLane& lane : prepared.lanes) {
    for (const ValuePipe& pipe : lane.outgoing) {
      layout.pipes_hash = mix(layout.pipes_hash, static_cast<std::uint64_t>(pipe.peer));
    }
    layout.pipes_hash = mix(layout.pipes_hash, lane.outgoing.size());
  }
  const std::uint64_t lanes = std::max<std::size_t>(prepared.program.lanes.size(), 1);
  layout.lane_bytes = round_down(outbox_bytes / lanes, kLine);
  const std::uint64_t pipes = prepared.value_pipes;
  const std::uint64_t heads = pipes * layout.slots * layout.slot_head_bytes();
  const std::uint64_t tiles =
      std::uint64_t{layout.tiles_in_stage} * layout.stage_chunks + pipes * layout.slots * layout.value_chunks;
  const std::uint64_t quantum = std::max(kTileQuantum, element_bytes);
  if (tiles == 0) {
    layout.tile_bytes = round_down(tile_bytes_max, quantum);
    return layout;
  }
  const std::uint64_t room = layout.lane_bytes > heads ? (layout.lane_bytes - heads) / tiles : 0;
  layout.tile_bytes = round_down(std::min(room, tile_bytes_max), quantum);
  const std::uint64_t row_bytes = layout.stage_chunks * layout.tile_bytes;
  if (row_bytes > 0 && prepared.is_one_round) {
    const std::uint64_t bytes = std::min(layout.lane_bytes, kDeepStageBytes);
    layout.tiles_in_stage = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / row_bytes, 2, kStageTilesMax));
  }
  if (layout.tile_bytes == 0) {
    return Status(Code::unsupported,
                  fmt::format("{} {} over {} ranks does not fit the {} bytes that a rank has for messages; choose an "
                              "algorithm with fewer chunks",
                              prepared.header.algorithm, name_of(prepared.header.collective), prepared.header.ranks,
                              outbox_bytes));
  }
  return layout;
}

class LaneBuilder {
 public:
  LaneBuilder(const Launch& launch, const std::vector<ChunkMap>& maps, Rank self)
      : prepared_(*launch.prepared),
        maps_(maps),
        element_bytes_(launch.elements.bytes),
        self_(self),
        scales_inputs_(launch.scales_inputs),
        divides_(launch.divide_by != 1),
        converts_(launch.elements.wire_type.has_value()) {}

  LaunchLane build(std::uint32_t index) const {
    const Lane& lane = prepared_.program.lanes[index];
    const PreparedLane& peers = prepared_.lanes[index];
    std::vector<StepSlices> steps = slices_of(lane);
    if (!scales_inputs_) forward_inputs(prepared_, self_, lane, steps);
    LaunchLane launch;
    for (std::size_t i = 0; i < lane.size(); ++i) {
      const Step& step = lane[i];
      const auto& [sources, targets] = steps[i];
      const bool passes_on = step.receive_from != kNoRank || step.send_to != kNoRank;
      LaunchStep made;
      made.first_piece = static_cast<std::uint32_t>(launch.pieces.size());
      made.source_count = static_cast<std::uint16_t>(sources.size());
      made.target_count = static_cast<std::uint16_t>(targets.size());
      made.finish = step.finish;
      made.has_value = step.has_value() && (passes_on || !targets.empty());
      made.send_to = step.send_to;
      made.receive_pipe = pipe_of(peers.incoming, step.receive_from);
      made.send_pipe = pipe_of(peers.outgoing, step.send_to);
      if (!sources.empty() || !targets.empty()) {
        made.chunk_count = sources.empty() ? targets[0].count : sources[0].count;
      }
      for (std::uint32_t chunk = 0; chunk < made.chunk_count; ++chunk) {
        const std::uint64_t bytes = value_bytes(sources, targets, chunk);
        for (const Slice& source : sources) launch.pieces.push_back(piece_of(source, chunk, bytes, true));
        for (const Slice& target : targets) launch.pieces.push_back(piece_of(target, chunk, bytes, false));
      }
      for (const Slice& slice : targets) made.stores_to_stage |= slice.buffer == Buffer::stage;
      set_shortcuts(made, steps[i], index, i);
      for (const Slice& slice : sources) launch.uses_stage |= slice.buffer == Buffer::stage;
      launch.uses_stage |= made.stores_to_stage;
      launch.steps.push_back(made);
    }
    return launch;
  }

 private:
  // Where values of wires may be read and put without a copy: see LaunchStep.
  void set_shortcuts(LaunchStep& made, const StepSlices& slices, std::uint32_t index, std::size_t position) const {
    if (converts_) return;
    const Step& step = prepared_.program.lanes[index][position];
    const auto& [sources, targets] = slices;
    const bool is_plain = !step.finish || !divides_;
    const bool receives = step.receive_from != kNoRank;
    const auto own_output = std::find_if(targets.begin(), targets.end(), [&](const Slice& slice) {
      return slice.owner == self_ && slice.buffer == Buffer::out;
    });
    if (receives && sources.empty() && is_plain && own_output != targets.end()) {
      made.lands_in = static_cast<std::uint16_t>(own_output - targets.begin());
    } else if (receives && sources.empty() && is_plain && targets.size() == 1 && made.chunk_count == 1 &&
               targets[0].buffer == Buffer::scratch) {
      made.lands_in = 0;
    }
    if (step.send_to == kNoRank) return;
    const bool copies = !receives && sources.size() == 1 && is_plain && sources[0].owner == self_ &&
                        !(scales_inputs_ && sources[0].buffer == Buffer::in);
    if (copies && (sources[0].buffer == Buffer::in || sources[0].buffer == Buffer::out)) {
      const bool is_steady = is_left_alone(sources[0], index, position);
      if (!is_steady && sources[0].buffer == Buffer::out) return;
      made.sent_from = 0;
      made.sent_from_needs_apart = !is_steady;
    } else if (own_output != targets.end() && is_left_alone(*own_output, index, position)) {
      made.sent_from =
          static_cast<std::uint16_t>(sources.size() + static_cast<std::size_t>(own_output - targets.begin()));
    }
  }
  // Whether nothing is stored to these chunks of this rank's output after that step.
  bool is_left_alone(const Slice& slice, std::uint32_t index, std::size_t position) const {
    if ((prepared_.reached[static_cast<std::size_t>(self_)] & transport::Tag::kReachesOut) != 0) return false;
    const auto& lanes = prepared_.program.lanes;
    for (std::uint32_t other = 0; other < lanes.size(); ++other) {
      for (std::size_t i = other == index ? position + 1 : 0; i < lanes[other].size(); ++i) {
        for (const Slice& target : lanes[other].targets(lanes[other][i])) {
          if (target.owner == self_ && target.buffer == Buffer::out && overlaps(target, slice)) return false;
        }
      }
    }
    return true;
  }
  static bool overlaps(const Slice& a, const Slice& b) {
    for (std::uint32_t i = 0; i < a.count; ++i) {
      for (std::uint32_t j = 0; j < b.count; ++j) {
        if (a.at(i) == b.at(j)) return true;
      }
    }
    return false;
  }
  static std::uint32_t pipe_of(const std::vector<ValuePipe>& pipes, Rank peer) {
    const auto found = std::find_if(pipes.begin(), pipes.end(), [&](const ValuePipe& p) { return p.peer == peer; });
    return found == pipes.end() ? 0 : found->index;
  }
  // Scratch and stage have no sizes of their own: a chunk there is as large as what is put into it, which plans keep in
  // chunks of the same number or next to a slice of a buffer that has one.
  std::uint64_t value_bytes(std::span<const Slice> sources, std::span<const Slice> targets, std::uint32_t chunk) const {
    for (const auto& slices : {sources, targets}) {
      for (const Slice& slice : slices) {
        if (slice.buffer == Buffer::in || slice.buffer == Buffer::out)
          return extent_of(slice, chunk).elements * element_bytes_;
      }
    }
    return Piece::kUnknown;
  }
  Extent extent_of(const Slice& slice, std::uint32_t chunk) const {
    return maps_[static_cast<std::size_t>(slice.owner)].of(slice.buffer).of(slice.at(chunk));
  }
  Piece piece_of(const Slice& slice, std::uint32_t chunk, std::uint64_t bytes, bool is_source) const {
    Piece piece{.offset = slice.at(chunk), .bytes = bytes, .owner = slice.owner, .buffer = slice.buffer};
    if (slice.buffer == Buffer::in || slice.buffer == Buffer::out) {
      piece.offset = extent_of(slice, chunk).offset * element_bytes_;
    }
    if (slice.buffer == Buffer::stage) piece.offset = stage_index(prepared_, slice.owner, slice.at(chunk));
    piece.is_scaled = is_source && scales_inputs_ && slice.buffer == Buffer::in;
    return piece;
  }

  const Prepared& prepared_;
  const std::vector<ChunkMap>& maps_;
  std::uint64_t element_bytes_;
  Rank self_;
  bool scales_inputs_;
  bool divides_;
  bool converts_;
};

std::uint64_t largest_chunk(const std::vector<ChunkMap>& maps) {
  std::uint64_t largest = 0;
  for (const ChunkMap& map : maps) {
    for (const Layout* layout : {&map.in, &map.out}) {
      for (std::uint32_t chunk = 0; chunk < layout->chunk_count(); ++chunk) {
        largest = std::max(largest, layout->of(chunk).elements);
      }
    }
  }
  return largest;
}

void set_arithmetic(Launch& launch) {
  const Elements& elements = launch.elements;
  const Header& header = launch.prepared->header;
  if (elements.is_custom) return;
  launch.kernel = kernel_of(elements.type, elements.op);
  if (!reduces(header.collective)) return;
  if (elements.wire_type) {
    launch.conversion = conversion_of(*elements.wire_type);
    launch.rounds_sums = header.collective == Collective::all_reduce;
  }
  // Sums of float32 may overflow on their way as float16, where the average does not.
  const bool is_narrow_somewhere = is_narrow(elements.type) || elements.wire_type == DataType::float16;
  const bool scales_average = elements.op == Op::average && is_narrow_somewhere;
  launch.scales_inputs = elements.op == Op::scaled_sum || scales_average;
  if (scales_average) launch.input_factor = 1.0f / static_cast<float>(header.ranks);
  if (elements.op == Op::average && !scales_average) launch.divide_by = header.ranks;
}

}  // namespace

std::uint64_t OutboxLayout::slot_head_bytes() const {
  return (value_chunks * sizeof(transport::ChunkBytes) + kLine - 1) / kLine * kLine;
}

std::uint64_t OutboxLayout::slot_at(std::uint32_t lane, std::uint32_t pipe, std::uint32_t value) const {
  const std::uint64_t stage_bytes = std::uint64_t{tiles_in_stage} * stage_chunks * tile_bytes;
  return lane * lane_bytes + stage_bytes + (std::uint64_t{pipe} * slots + value % slots) * slot_bytes();
}

std::uint64_t OutboxLayout::key() const {
  std::uint64_t key = 0x9e3779b97f4a7c15;
  for (const std::uint64_t part : {tile_bytes, lane_bytes, std::uint64_t{stage_chunks}, std::uint64_t{tiles_in_stage},
                                   std::uint64_t{slots}, std::uint64_t{value_chunks}, pipes_hash}) {
    key = mix(key, part);
  }
  return key | 1;
}

std::size_t bytes_of(const Launch& launch) {
  std::size_t bytes = sizeof(Launch) + launch.lanes.capacity() * sizeof(LaunchLane) + bytes_of(*launch.prepared);
  for (const LaunchLane& lane : launch.lanes) {
    bytes += lane.steps.capacity() * sizeof(LaunchStep) + lane.pieces.capacity() * sizeof(Piece);
  }
  return bytes;
}

Result<Launch> create_launch(std::shared_ptr<const Prepared> prepared, const std::vector<ChunkMap>& maps,
                             const Elements& elements, const LaunchOptions& options, Rank self) {
  if (prepared->program.lanes.size() > transport::kLanesMax) {
    return Status(Code::unsupported,
                  fmt::format("{} with {} lanes cannot run here; at most {} are possible", prepared->header.algorithm,
                              prepared->program.lanes.size(), transport::kLanesMax));
  }
  Launch launch;
  launch.prepared = std::move(prepared);
  launch.elements = elements;
  launch.is_mapped = options.is_mapped;
  set_arithmetic(launch);
  const Prepared& plan = *launch.prepared;
  TUTTI_ASSIGN(launch.outbox, lay_out(plan, options.outbox_bytes, options.tile_bytes_max, elements.bytes));
  launch.outbox_key = launch.outbox.key();
  const std::uint64_t chunk_bytes = largest_chunk(maps) * elements.bytes;
  // A tile is a whole number of elements.
  launch.tile_bytes = round_down(launch.outbox.tile_bytes, elements.bytes);
  if (plan.only_reaches && plan.stage_chunks == 0 && plan.scratch_chunks == 0) {
    launch.tile_bytes = std::max<std::uint64_t>(chunk_bytes, 1);
  }
  launch.tiles =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (chunk_bytes + launch.tile_bytes - 1) / launch.tile_bytes));
  launch.scratch_bytes = plan.scratch_chunks * launch.outbox.tile_bytes;
  const LaneBuilder builder(launch, maps, self);
  for (std::uint32_t lane = 0; lane < plan.program.lanes.size(); ++lane) launch.lanes.push_back(builder.build(lane));
  launch.staged_bytes = plan.stage_chunks * chunk_bytes;
  launch.flash_chunk_bytes = chunk_bytes;
  launch.flash_lines = static_cast<std::uint32_t>(std::max<std::uint64_t>(
      1, (std::min<std::uint64_t>(launch.staged_bytes, transport::kFlashBytesMax) + transport::kFlashLineBytes - 1) /
             transport::kFlashLineBytes));
  std::uint64_t output = 0;
  for (const ChunkMap& map : maps) output = std::max(output, map.out.end() * elements.bytes);
  const bool is_copied = !reduces(plan.header.collective);
  launch.is_streaming = output >= (is_copied ? options.streaming_copies_from_bytes : options.streaming_from_bytes);
  return launch;
}

}  // namespace tutti::engine

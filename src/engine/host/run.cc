#include "engine/host/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/host/conversion.h"

namespace tutti::engine {

using plan::Buffer;
using transport::Channel;
using transport::ChunkBytes;

Run::Run(Channel& channel, Workspace& workspace, const Launch& launch, const CustomOperation* custom)
    : channel_(channel),
      workspace_(workspace),
      launch_(launch),
      custom_(custom),
      is_in_place_(channel.place(channel.self()).in == channel.place(channel.self()).out) {
  blocked_on_.fill(kNoRank);
  std::fill(workspace_.cursors.begin(), workspace_.cursors.end(), Workspace::Cursor{});
  if (channel_.has_links()) {
    for (const Rank member : launch_.prepared->greeted) channel_.greet(member);
  }
}

bool Run::progress() {
  bool is_done = true;
  const auto lanes = static_cast<std::uint32_t>(launch_.lanes.size());
  for (bool has_moved = true; has_moved;) {
    has_moved = false;
    is_done = true;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      has_moved = progress_lane(lane) || has_moved;
      if (!status_) return true;
      is_done = is_done && workspace_.cursors[lane].tile == launch_.tiles;
    }
    // A lane may wait for a step of a lane after it; with one lane there is nothing to look at again.
    if (is_done || lanes == 1) break;
  }
  return is_done;
}

// Whether it did anything.
bool Run::progress_lane(std::uint32_t lane) {
  Workspace::Cursor& cursor = workspace_.cursors[lane];
  const std::size_t steps = launch_.lanes[lane].steps.size();
  if (steps == 0 && cursor.tile == 0) {
    // It stages nothing and reads nothing, but tiles are counted alike on every rank.
    cursor.tile = launch_.tiles;
    channel_.end_tiles(lane, launch_.tiles);
  }
  bool has_moved = false;
  waits_for_ = kNoRank;
  while (cursor.tile < launch_.tiles && is_ready(lane, cursor.step)) {
    execute(lane, cursor.step);
    ++steps_done_;
    has_moved = true;
    if (!status_) return true;
    if (++cursor.step == steps) {
      cursor.step = 0;
      ++cursor.tile;
      channel_.end_tiles(lane, 1);
    }
  }
  blocked_on_[lane] = waits_for_;
  return has_moved;
}

// Whether the member has entered, and its call fits ours; a mismatch ends the run.
bool Run::has_met(Rank member) {
  if (channel_.was_met(member)) return true;
  if (!channel_.has_entered(member)) return wait_for(member);
  if (channel_.meet(member)) return true;
  status_ = Status(Code::invalid_usage, "the calls differ");  // the communicator says how
  return false;
}

bool Run::is_ready(std::uint32_t lane, std::uint32_t index) {
  const StepPeers& peers = launch_.prepared->lanes[lane].peers[index];
  const LaunchStep& step = launch_.lanes[lane].steps[index];
  for (const plan::Point& point : peers.after) {
    const Workspace::Cursor& other = workspace_.cursors[point.lane];
    const Workspace::Cursor& mine = workspace_.cursors[lane];
    if (other.tile < mine.tile || (other.tile == mine.tile && other.step <= point.step)) return false;
  }
  for (const Rank member : peers.entries) {
    if (!has_met(member)) return false;
  }
  for (const Take& take : peers.takes) {
    if (!channel_.has_message(lane, take.from, take.ordinal)) return wait_for(take.from);
    if (!has_met(take.from)) return false;
  }
  const Take& receive = peers.receive;
  if (receive.from != kNoRank) {
    if (!channel_.has_message(lane, receive.from, receive.ordinal)) {
      if (step.lands_in != LaunchStep::kNowhere && channel_.is_linked(receive.from)) expect(lane, step, receive.from);
      return wait_for(receive.from);
    }
    if (!has_met(receive.from)) return false;
  }
  return is_outbox_free(lane, step);
}

// Everything else that the step waits for is there, so its value may go to its place as it comes.
void Run::expect(std::uint32_t lane, const LaunchStep& step, Rank from) {
  const std::uint32_t value = channel_.values_taken(lane, from) + 1;
  if (expected_[lane] == value) return;
  expected_[lane] = value;
  workspace_.stretches.clear();
  for (std::uint32_t chunk = 0; chunk < step.chunk_count; ++chunk) {
    workspace_.stretches.push_back({place_of(lane, step, chunk, step.lands_in), room_for(lane, step, chunk)});
  }
  channel_.expect_value(lane, from, workspace_.stretches);
}

// A chunk that comes into scratch is as long as its sender says, up to a tile.
std::uint64_t Run::room_for(std::uint32_t lane, const LaunchStep& step, std::uint32_t chunk) const {
  const Piece& first = launch_.lanes[lane].pieces[step.first_piece];
  return first.bytes == Piece::kUnknown ? launch_.tile_bytes : bytes_of(lane, step, chunk);
}

// Where a piece of this rank's own buffers is, in this tile.
std::byte* Run::place_of(std::uint32_t lane, const LaunchStep& step, std::uint32_t chunk, std::uint32_t piece) {
  const std::size_t per_chunk = std::size_t{step.source_count} + step.target_count;
  const std::uint64_t skip = workspace_.cursors[lane].tile * launch_.tile_bytes;
  int unused = 0;  // of this process
  return locate(lane, launch_.lanes[lane].pieces[step.first_piece + chunk * per_chunk + piece], skip, &unused);
}

// Whether what this step writes to the outbox overwrites nothing that somebody still reads.
bool Run::is_outbox_free(std::uint32_t lane, const LaunchStep& step) {
  if (step.send_to == kNoRank && !step.stores_to_stage) return true;
  const OutboxLayout& outbox = launch_.outbox;
  if (const std::uint64_t key = launch_.outbox_key; !channel_.is_outbox_laid_out_as(key)) {
    if (const Rank behind = channel_.find_behind(1); behind != kNoRank) return wait_for(behind);
    channel_.lay_out_outbox(key);
  }
  if (step.stores_to_stage) {
    const Rank user = channel_.find_stage_user(lane, outbox.tiles_in_stage);
    if (user != kNoRank) return wait_for(user);
  }
  if (step.send_to == kNoRank || channel_.has_free_slot(lane, step.send_to, outbox.slots)) return true;
  return wait_for(step.send_to);
}

void Run::execute(std::uint32_t lane, std::uint32_t index) {
  const LaunchStep& step = launch_.lanes[lane].steps[index];
  const StepPeers& peers = launch_.prepared->lanes[lane].peers[index];
  const Rank from = peers.receive.from;
  for (const Take& take : peers.takes) channel_.take_message(lane, take.from);
  if (step.has_value) {
    if (from != kNoRank) channel_.take_message(lane, from);
    const Passage passage = open_passage(lane, step, from);
    if (status_ = move_value(lane, step, passage); !status_) return;
    if (from != kNoRank) channel_.count_value_taken(lane, from);
    if (step.send_to != kNoRank) {
      if (channel_.is_linked(step.send_to)) {
        send_over_wire(lane, step, passage);
      } else {
        channel_.count_value_sent(lane, step.send_to);
        channel_.send(lane, step.send_to);
      }
    }
  }
  for (const Rank member : peers.signals) channel_.send(lane, member);
}

Run::Passage Run::open_passage(std::uint32_t lane, const LaunchStep& step, Rank from) {
  const OutboxLayout& outbox = launch_.outbox;
  Passage passage;
  if (from != kNoRank && channel_.is_linked(from)) {
    const transport::Remote::Value value = channel_.received_value(lane, from);
    passage.received_sizes = value.sizes.data();
    passage.received_chunks = static_cast<std::uint32_t>(value.sizes.size());
    passage.received = value.data;
    passage.has_landed = value.has_landed;
    passage.is_received_narrow = launch_.elements.wire_type.has_value();
  } else if (from != kNoRank) {
    const std::byte* slot =
        channel_.block(from).outbox() + outbox.slot_at(lane, step.receive_pipe, channel_.values_taken(lane, from));
    passage.received_sizes = reinterpret_cast<const ChunkBytes*>(slot);
    passage.received_chunks = outbox.value_chunks;
    passage.received = slot + outbox.slot_head_bytes();
  }
  if (step.send_to != kNoRank) {
    std::byte* slot =
        channel_.mine().outbox() + outbox.slot_at(lane, step.send_pipe, channel_.values_sent(lane, step.send_to));
    passage.sent_sizes = reinterpret_cast<ChunkBytes*>(slot);
    passage.sent = slot + outbox.slot_head_bytes();
    passage.is_sent_from_place = step.sent_from != LaunchStep::kNowhere && channel_.is_linked(step.send_to) &&
                                 !(step.sent_from_needs_apart && is_in_place_);
    passage.is_sent_narrow = launch_.elements.wire_type.has_value() && channel_.is_linked(step.send_to);
  }
  return passage;
}

Status Run::move_value(std::uint32_t lane, const LaunchStep& step, Passage passage) {
  const OutboxLayout& outbox = launch_.outbox;
  const std::uint32_t chunks = chunks_of(step);
  const bool is_received = passage.received_sizes != nullptr;
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
    std::uint64_t bytes = 0;
    if (!is_received) {
      bytes = bytes_of(lane, step, chunk);
    } else if (chunk < passage.received_chunks) {
      bytes = passage.received_sizes[chunk];
      if (passage.is_received_narrow) bytes = wide_bytes(bytes);
    }
    bytes = std::min(bytes, launch_.tile_bytes);  // the word of a peer is no bound
    Passage here = passage;
    if (passage.has_landed) here.received = place_of(lane, step, chunk, step.lands_in);
    if (passage.is_sent_from_place) here.sent = nullptr;
    TUTTI_TRY(compute_chunk(lane, step, chunk, bytes, here));
    const std::uint64_t sent_bytes = passage.is_sent_narrow ? narrow_bytes(bytes) : bytes;
    if (passage.sent_sizes != nullptr) passage.sent_sizes[chunk] = static_cast<ChunkBytes>(sent_bytes);
    if (passage.received != nullptr) passage.received += passage.is_received_narrow ? narrow_bytes(bytes) : bytes;
    if (passage.sent != nullptr) passage.sent += sent_bytes;
  }
  // Whoever passes the value on without looking into it goes by these sizes alone.
  if (passage.sent_sizes != nullptr) {
    std::fill(passage.sent_sizes + chunks, passage.sent_sizes + outbox.value_chunks, ChunkBytes{0});
  }
  return {};
}

void Run::send_over_wire(std::uint32_t lane, const LaunchStep& step, const Passage& passage) {
  const std::uint32_t chunks = chunks_of(step);
  workspace_.stretches.clear();
  std::uint64_t bytes = 0;
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
    if (passage.is_sent_from_place) {
      workspace_.stretches.push_back({place_of(lane, step, chunk, step.sent_from), passage.sent_sizes[chunk]});
    }
    bytes += passage.sent_sizes[chunk];
  }
  if (!passage.is_sent_from_place) workspace_.stretches.push_back({passage.sent, bytes});
  channel_.send_value(lane, step.send_to, {passage.sent_sizes, chunks}, workspace_.stretches);
}

// Slices may have no chunks. Of a value that is passed on without any, there are as many as it came with.
std::uint32_t Run::chunks_of(const LaunchStep& step) const {
  const bool has_slices = step.source_count + step.target_count > 0;
  return has_slices ? step.chunk_count : launch_.outbox.value_chunks;
}

// Of this tile of a chunk, where nothing is received.
std::uint64_t Run::bytes_of(std::uint32_t lane, const LaunchStep& step, std::uint32_t chunk) const {
  const std::size_t per_chunk = std::size_t{step.source_count} + step.target_count;
  if (per_chunk == 0) return 0;
  const Piece& piece = launch_.lanes[lane].pieces[step.first_piece + chunk * per_chunk];
  if (piece.bytes == Piece::kUnknown) return workspace_.scratch_size(lane, piece.offset, launch_);
  const std::uint64_t skip = std::min(piece.bytes, workspace_.cursors[lane].tile * launch_.tile_bytes);
  return std::min(piece.bytes - skip, launch_.tile_bytes);
}

std::byte* Run::locate(std::uint32_t lane, const Piece& piece, std::uint64_t skip, int* pid) {
  switch (piece.buffer) {
    case Buffer::scratch: return workspace_.scratch(lane, piece.offset, launch_);
    case Buffer::stage:
      return channel_.block(piece.owner).outbox() + launch_.outbox.stage_at(lane, channel_.tile(lane), piece.offset);
    case Buffer::in:
    case Buffer::out: break;
  }
  const Channel::Place& place = channel_.place(piece.owner);
  const bool is_in = piece.buffer == Buffer::in;
  *pid = (is_in ? place.pulls_in : place.pulls_out) ? channel_.peer(piece.owner).pid : 0;
  return Channel::byte_at(is_in ? place.in : place.out, piece.offset + skip);
}

Status Run::compute_chunk(std::uint32_t lane, const LaunchStep& step, std::uint32_t chunk, std::uint64_t bytes,
                          const Passage& passage) {
  const std::size_t per_chunk = std::size_t{step.source_count} + step.target_count;
  const Piece* pieces = launch_.lanes[lane].pieces.data() + step.first_piece + chunk * per_chunk;
  const std::uint64_t skip = workspace_.cursors[lane].tile * launch_.tile_bytes;
  std::size_t sources = 0;
  std::size_t targets = 0;
  bool is_scaled = false;
  int across = 0;  // any process that the kernel has to copy from or to
  const auto add_source = [&](const std::byte* source, double factor, int pid) {
    workspace_.sources[sources] = source;
    workspace_.factors[sources] = factor;
    workspace_.source_owners[sources++] = pid;
    across |= pid;
  };
  if (passage.received != nullptr) add_source(passage.received, 1, 0);
  for (std::size_t i = 0; i < step.source_count; ++i) {
    const Piece& piece = pieces[i];
    if (!has_met(piece.owner)) return status_;
    int pid = 0;
    const std::byte* source = locate(lane, piece, skip, &pid);
    const bool has_own_factor = launch_.elements.op == Op::scaled_sum;
    const double factor = has_own_factor ? channel_.place(piece.owner).factor : launch_.input_factor;
    add_source(source, piece.is_scaled ? factor : 1, pid);
    is_scaled = is_scaled || piece.is_scaled;
  }
  // What a wire reads next is better in the caches.
  bool is_streaming = launch_.is_streaming && step.send_to == kNoRank;
  for (std::size_t i = step.source_count; i < per_chunk; ++i) {
    const Piece& piece = pieces[i];
    if (!has_met(piece.owner)) return status_;
    if (piece.buffer == Buffer::scratch) workspace_.scratch_size(lane, piece.offset, launch_) = bytes;
    is_streaming = is_streaming && piece.buffer == Buffer::out;
    int pid = 0;
    workspace_.targets[targets] = locate(lane, piece, skip, &pid);
    workspace_.target_owners[targets++] = pid;
    across |= pid;
  }
  if (passage.sent != nullptr) {
    workspace_.targets[targets] = passage.sent;
    workspace_.target_owners[targets++] = 0;
  }
  const Value value{.sources = {workspace_.sources.data(), sources},
                    .targets = {workspace_.targets.data(), targets},
                    .bytes = bytes,
                    .factors = is_scaled ? workspace_.factors.data() : nullptr,
                    .finish = step.finish,
                    .is_streaming = is_streaming,
                    .is_first_narrow = passage.is_received_narrow,
                    .is_last_narrow = passage.is_sent_narrow,
                    .is_rounded = step.finish && launch_.rounds_sums};
  if (across != 0) {
    return compute_across(launch_, custom_, workspace_, value,
                          {{workspace_.source_owners.data(), sources}, {workspace_.target_owners.data(), targets}});
  }
  value.needs_conversion() ? compute_converted(launch_, workspace_, value)
                           : compute(launch_, custom_, workspace_, value);
  return {};
}

}  // namespace tutti::engine

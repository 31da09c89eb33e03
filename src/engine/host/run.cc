#include "engine/host/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/host/value.h"

namespace tutti::engine {

using plan::Buffer;
using transport::Channel;
using transport::ChunkBytes;

Run::Run(Channel& channel, Workspace& workspace, const Launch& launch, const CustomOperation* custom)
    : channel_(channel), workspace_(workspace), launch_(launch), custom_(custom) {
  blocked_on_.fill(kNoRank);
  std::fill(workspace_.cursors.begin(), workspace_.cursors.end(), Workspace::Cursor{});
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
    if (!channel_.has_message(lane, receive.from, receive.ordinal)) return wait_for(receive.from);
    if (!has_met(receive.from)) return false;
  }
  return is_outbox_free(lane, step);
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
  const OutboxLayout& outbox = launch_.outbox;
  const Rank from = peers.receive.from;
  for (const Take& take : peers.takes) channel_.take_message(lane, take.from);
  if (step.has_value) {
    const std::byte* received = nullptr;
    const ChunkBytes* received_bytes = nullptr;
    if (from != kNoRank) {
      channel_.take_message(lane, from);
      const std::byte* slot =
          channel_.block(from).outbox() + outbox.slot_at(lane, step.receive_pipe, channel_.values_taken(lane, from));
      received_bytes = reinterpret_cast<const ChunkBytes*>(slot);
      received = slot + outbox.slot_head_bytes();
    }
    std::byte* sent = nullptr;
    ChunkBytes* sent_bytes = nullptr;
    if (step.send_to != kNoRank) {
      std::byte* slot =
          channel_.mine().outbox() + outbox.slot_at(lane, step.send_pipe, channel_.values_sent(lane, step.send_to));
      sent_bytes = reinterpret_cast<ChunkBytes*>(slot);
      sent = slot + outbox.slot_head_bytes();
    }
    const std::uint32_t chunks = step.chunk_count > 0 ? step.chunk_count : outbox.value_chunks;
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
      std::uint64_t bytes = received_bytes != nullptr ? received_bytes[chunk] : bytes_of(lane, step, chunk);
      bytes = std::min(bytes, launch_.tile_bytes);  // the word of a peer is no bound
      if (status_ = compute_chunk(lane, step, chunk, bytes, received, sent); !status_) return;
      if (sent_bytes != nullptr) sent_bytes[chunk] = static_cast<ChunkBytes>(bytes);
      if (received != nullptr) received += bytes;
      if (sent != nullptr) sent += bytes;
    }
    // Whoever passes the value on without looking into it goes by these sizes alone.
    if (sent_bytes != nullptr) std::fill(sent_bytes + chunks, sent_bytes + outbox.value_chunks, ChunkBytes{0});
    if (from != kNoRank) channel_.count_value_taken(lane, from);
    if (step.send_to != kNoRank) {
      channel_.count_value_sent(lane, step.send_to);
      channel_.send(lane, step.send_to);
    }
  }
  for (const Rank member : peers.signals) channel_.send(lane, member);
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
  return (is_in ? place.in : place.out) + piece.offset + skip;
}

Status Run::compute_chunk(std::uint32_t lane, const LaunchStep& step, std::uint32_t chunk, std::uint64_t bytes,
                          const std::byte* received, std::byte* sent) {
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
  if (received != nullptr) add_source(received, 1, 0);
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
  bool is_streaming = launch_.is_streaming && sent == nullptr;
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
  if (sent != nullptr) {
    workspace_.targets[targets] = sent;
    workspace_.target_owners[targets++] = 0;
  }
  const Value value{.sources = {workspace_.sources.data(), sources},
                    .targets = {workspace_.targets.data(), targets},
                    .bytes = bytes,
                    .factors = is_scaled ? workspace_.factors.data() : nullptr,
                    .finish = step.finish,
                    .is_streaming = is_streaming};
  if (across != 0) {
    return compute_across(launch_, custom_, workspace_, value,
                          {{workspace_.source_owners.data(), sources}, {workspace_.target_owners.data(), targets}});
  }
  compute(launch_, custom_, workspace_, value);
  return {};
}

}  // namespace tutti::engine

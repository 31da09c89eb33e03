#include "engine/host/flash.h"

#include <algorithm>
#include <cstring>

#include "engine/host/value.h"

namespace tutti::engine {

using plan::Buffer;
using transport::FlashLine;
using transport::kFlashLineBytes;

bool can_flash(const Launch& launch) {
  return launch.prepared->is_one_round && launch.tiles == 1 && launch.staged_bytes <= transport::kFlashBytesMax;
}

Flash::Flash(transport::Channel& channel, Workspace& workspace, const Launch& launch, const CustomOperation* custom)
    : channel_(channel),
      workspace_(workspace),
      launch_(launch),
      custom_(custom),
      tag_(transport::Tag::of(channel.call(), channel.fingerprint(), 1).word),
      chunk_bytes_(launch.flash_chunk_bytes),
      line_count_(launch.flash_lines) {}

bool Flash::progress() {
  if (launch_.lanes.empty()) return true;
  if (!has_room_) {
    if (blocked_on_ = channel_.find_behind(transport::kFlashDepth); blocked_on_ != kNoRank) return false;
    has_room_ = true;
  }
  const auto& steps = launch_.lanes[0].steps;
  const auto& peers = launch_.prepared->lanes[0].peers;
  while (step_ < steps.size()) {
    const auto& takes = peers[step_].takes;
    if (!is_published_ && !takes.empty()) publish();
    for (; take_ < takes.size(); ++take_) {
      if (!take(takes[take_].from)) return !status_.is_ok();
    }
    compute_step(step_++);
    take_ = 0;
  }
  if (!is_published_) publish();
  return true;
}

// Where what a rank has staged can be read here: straight from its line where there is one.
const std::byte* Flash::staged_by(Rank owner) const {
  if (line_count_ == 1 && owner != channel_.self()) {
    return channel_.block(owner).flash(channel_.call())->data;
  }
  return workspace_.flash(static_cast<std::size_t>(owner));
}

void Flash::compute_step(std::uint32_t index) {
  const LaunchStep& step = launch_.lanes[0].steps[index];
  const std::size_t per_chunk = std::size_t{step.source_count} + step.target_count;
  for (std::uint32_t chunk = 0; chunk < step.chunk_count; ++chunk) {
    const Piece* pieces = launch_.lanes[0].pieces.data() + step.first_piece + chunk * per_chunk;
    bool is_scaled = false;
    for (std::size_t i = 0; i < step.source_count; ++i) {
      const Piece& piece = pieces[i];
      const auto& place = channel_.place(channel_.self());
      workspace_.sources[i] = piece.buffer == Buffer::stage ? staged_by(piece.owner) + piece.offset * chunk_bytes_
                              : piece.buffer == Buffer::in  ? transport::Channel::byte_at(place.in, piece.offset)
                                                            : transport::Channel::byte_at(place.out, piece.offset);
      const double own = launch_.elements.op == Op::scaled_sum ? place.factor : launch_.input_factor;
      workspace_.factors[i] = piece.is_scaled ? own : 1;
      is_scaled = is_scaled || piece.is_scaled;
    }
    for (std::size_t i = 0; i < step.target_count; ++i) {
      const Piece& piece = pieces[step.source_count + i];
      workspace_.targets[i] =
          piece.buffer == Buffer::stage
              ? workspace_.flash(static_cast<std::size_t>(channel_.self())) + piece.offset * chunk_bytes_
              : transport::Channel::byte_at(channel_.place(channel_.self()).out, piece.offset);
    }
    compute(launch_, custom_, workspace_,
            {.sources = {workspace_.sources.data(), step.source_count},
             .targets = {workspace_.targets.data(), step.target_count},
             .bytes = pieces[0].bytes,
             .factors = is_scaled ? workspace_.factors.data() : nullptr,
             .finish = step.finish});
  }
}

void Flash::publish() {
  is_published_ = true;
  const std::byte* staged = workspace_.flash(static_cast<std::size_t>(channel_.self()));
  FlashLine* lines = channel_.mine().flash(channel_.call());
  for (std::uint32_t i = 0; i < line_count_; ++i) {
    std::memcpy(lines[i].data, staged + i * kFlashLineBytes, kFlashLineBytes);
    lines[i].tag.store(tag_, std::memory_order_release);
  }
  channel_.ring_all();
  own_next_lines();
}

// Lines that others have read must be taken back from their caches before they can be written. That takes as long as a
// message, so it is begun now, while waiting, for the lines of the next call. Whoever read them has ended that call.
void Flash::own_next_lines() {
  if (!channel_.is_known_done(channel_.call() + 1 - transport::kFlashDepth)) return;
  FlashLine* lines = channel_.mine().flash(channel_.call() + 1);
  for (std::uint32_t i = 0; i < line_count_; ++i) {
    *reinterpret_cast<volatile std::byte*>(lines[i].data) = std::byte{0};
  }
}

bool Flash::take(Rank from) {
  const FlashLine* lines = channel_.block(from).flash(channel_.call());
  for (std::uint32_t i = 0; i < line_count_; ++i) {
    const std::uint64_t tag = lines[i].tag.load(std::memory_order_acquire);
    if (tag == tag_) continue;
    blocked_on_ = from;
    if (transport::Tag{tag}.call() == channel_.call()) status_ = Status(Code::invalid_usage, "the calls differ");
    return false;
  }
  channel_.note_call_of(from);
  if (line_count_ == 1) return true;
  std::byte* staged = workspace_.flash(static_cast<std::size_t>(from));
  for (std::uint32_t i = 0; i < line_count_; ++i) {
    std::memcpy(staged + i * kFlashLineBytes, lines[i].data, kFlashLineBytes);
  }
  return true;
}

}  // namespace tutti::engine

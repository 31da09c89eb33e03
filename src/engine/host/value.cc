#include "engine/host/value.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "os/remote_memory.h"

namespace tutti::engine {

namespace {

// As many bytes as fit a bounce, in whole elements.
std::uint64_t piece_bytes(const Launch& launch) {
  const std::uint64_t element = launch.elements.bytes;
  return Workspace::kBounceBytes / element * element;
}

// A piece at a time, in a place of its own: a target may also be one of the operands.
void compute_custom(const Launch& launch, const CustomOperation& custom, Workspace& workspace, const Value& value) {
  const std::uint64_t step = piece_bytes(launch);
  std::byte* result = workspace.bounce(0);
  for (std::uint64_t at = 0; at < value.bytes; at += step) {
    const std::uint64_t bytes = std::min(step, value.bytes - at);
    std::memcpy(result, value.sources[0] + at, bytes);
    for (const std::byte* source : value.sources.subspan(1)) {
      custom.combine(result, source + at, bytes / launch.elements.bytes, custom.context);
    }
    for (std::byte* target : value.targets) std::memcpy(target + at, result, bytes);
  }
}

}  // namespace

void compute(const Launch& launch, const CustomOperation* custom, Workspace& workspace, const Value& value) {
  if (value.bytes == 0 || value.targets.empty()) return;
  const Rank divide_by = value.finish ? launch.divide_by : 1;
  if (value.is_copy(launch)) {
    copy(value.sources[0], value.targets, value.bytes, value.is_streaming);
  } else if (custom != nullptr) {
    compute_custom(launch, *custom, workspace, value);
  } else {
    launch.kernel({.sources = value.sources,
                   .targets = value.targets,
                   .elements = value.bytes / launch.elements.bytes,
                   .factors = value.factors,
                   .divide_by = divide_by,
                   .streaming = value.is_streaming});
  }
}

namespace {

// Straight to where it belongs, where no copy is between two other processes.
Status copy_across(const Value& value, const Owners& owners) {
  const int from = owners.sources[0];
  for (std::size_t i = 0; i < value.targets.size(); ++i) {
    std::byte* target = value.targets[i];
    const std::byte* source = value.sources[0];
    if (target == source && owners.targets[i] == from) continue;
    if (const int to = owners.targets[i]; to != 0) {
      TUTTI_TRY(os::write_memory(to, target, source, value.bytes));
    } else if (from != 0) {
      TUTTI_TRY(os::read_memory(from, target, source, value.bytes));
    } else {
      copy(source, {&target, 1}, value.bytes, value.is_streaming);
    }
  }
  return {};
}

}  // namespace

Status compute_across(const Launch& launch, const CustomOperation* custom, Workspace& workspace, const Value& value,
                      const Owners& owners) {
  const auto is_here = [](int pid) { return pid == 0; };
  const bool has_targets_here = std::all_of(owners.targets.begin(), owners.targets.end(), is_here);
  TUTTI_ASSERT(!value.needs_conversion(), "ranks of several hosts map what they reach");
  if (value.is_copy(launch) && (has_targets_here || owners.sources[0] == 0)) return copy_across(value, owners);
  const std::size_t source_count = value.sources.size();
  TUTTI_ASSERT(workspace.has_bounces(source_count + 2), "launches of plans that combine across processes have room");
  std::byte* const result = workspace.bounce(source_count + 1);  // the first is the custom operation's
  const std::uint64_t step = piece_bytes(launch);
  for (std::uint64_t at = 0; at < value.bytes; at += step) {
    Value piece = value;
    piece.bytes = std::min(step, value.bytes - at);
    for (std::size_t i = 0; i < source_count; ++i) {
      const std::byte*& source = workspace.piece_sources[i];
      source = value.sources[i] + at;
      if (owners.sources[i] == 0) continue;
      std::byte* bounce = workspace.bounce(i + 1);
      TUTTI_TRY(os::read_memory(owners.sources[i], bounce, source, piece.bytes));
      source = bounce;
    }
    for (std::size_t i = 0; i < value.targets.size(); ++i) {
      workspace.piece_targets[i] = owners.targets[i] == 0 ? value.targets[i] + at : result;
    }
    piece.sources = {workspace.piece_sources.data(), source_count};
    piece.targets = {workspace.piece_targets.data(), value.targets.size()};
    piece.is_streaming = value.is_streaming && has_targets_here;
    compute(launch, custom, workspace, piece);
    for (std::size_t i = 0; i < value.targets.size(); ++i) {
      if (owners.targets[i] == 0) continue;
      TUTTI_TRY(os::write_memory(owners.targets[i], value.targets[i] + at, result, piece.bytes));
    }
  }
  return {};
}

}  // namespace tutti::engine

#include "engine/host/value.h"

#include <algorithm>
#include <cstring>

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
  if (value.sources.size() == 1 && value.factors == nullptr && divide_by == 1) {
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

Status compute_pulled(const Launch& launch, const CustomOperation* custom, Workspace& workspace, const Value& value,
                      std::span<const int> pids) {
  // A plain copy is pulled straight to where it belongs.
  const bool is_copy = value.sources.size() == 1 && value.targets.size() == 1 && value.factors == nullptr;
  if (is_copy && !value.finish && pids[0] != 0) {
    return os::read_memory(pids[0], value.targets[0], value.sources[0], value.bytes);
  }
  const std::uint64_t step = piece_bytes(launch);
  for (std::uint64_t at = 0; at < value.bytes; at += step) {
    Value piece = value;
    piece.bytes = std::min(step, value.bytes - at);
    for (std::size_t i = 0; i < value.sources.size(); ++i) {
      const std::byte*& source = workspace.piece_sources[i];
      source = value.sources[i] + at;
      if (pids[i] == 0) continue;
      std::byte* bounce = workspace.bounce(i + 1);  // the first is the custom operation's
      TUTTI_TRY(os::read_memory(pids[i], bounce, source, piece.bytes));
      source = bounce;
    }
    for (std::size_t i = 0; i < value.targets.size(); ++i) workspace.piece_targets[i] = value.targets[i] + at;
    piece.sources = {workspace.piece_sources.data(), value.sources.size()};
    piece.targets = {workspace.piece_targets.data(), value.targets.size()};
    compute(launch, custom, workspace, piece);
  }
  return {};
}

}  // namespace tutti::engine

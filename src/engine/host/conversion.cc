#include "engine/host/conversion.h"

#include <algorithm>
#include <cstring>

namespace tutti::engine {

namespace {

// Of a wide value: small enough that what is converted is still in the nearest cache when it is used.
constexpr std::uint64_t kPieceBytes = 16 << 10;
static_assert(kPieceBytes <= Workspace::kBounceBytes);

// The two ends of a value that are of the wire type, and what is left of its targets.
struct Ends {
  const std::byte* narrow_source = nullptr;
  std::byte* narrow_target = nullptr;
  std::span<std::byte* const> wide_targets;

  explicit Ends(const Value& value)
      : narrow_source(value.is_first_narrow ? value.sources.front() : nullptr),
        narrow_target(value.is_last_narrow ? value.targets.back() : nullptr),
        wide_targets(value.targets.first(value.targets.size() - (value.is_last_narrow ? 1 : 0))) {}
};

// A piece of a value, counted in elements.
struct Section {
  std::uint64_t begin = 0;
  std::uint64_t count = 0;

  template <class Byte>
  Byte* wide(Byte* base) const {
    return base + begin * sizeof(float);
  }
  template <class Byte>
  Byte* narrow(Byte* base) const {
    return base + begin * sizeof(std::uint16_t);
  }
};

void expand(const Conversion& conversion, const std::byte* narrow, const Ends& ends, const Section& section) {
  if (ends.wide_targets.empty()) return;
  std::byte* const first = section.wide(ends.wide_targets[0]);
  conversion.widen(narrow, first, section.count);
  for (std::byte* target : ends.wide_targets.subspan(1)) {
    std::memcpy(section.wide(target), first, section.count * sizeof(float));
  }
}

// What has come goes on as it is.
void pass_on(const Launch& launch, const Ends& ends, const Section& section) {
  const std::byte* const narrow = section.narrow(ends.narrow_source);
  if (ends.narrow_target != nullptr) {
    std::memcpy(section.narrow(ends.narrow_target), narrow, section.count * sizeof(std::uint16_t));
  }
  expand(launch.conversion, narrow, ends, section);
}

// Adds up a section, wide. Where the result is: in the first wide target, unless it is still to be rounded or there is
// none.
const std::byte* add_up(const Launch& launch, Workspace& workspace, const Value& value, const Ends& ends,
                        const Section& section) {
  Value wide = value;
  wide.bytes = section.count * sizeof(float);
  wide.is_first_narrow = wide.is_last_narrow = wide.is_rounded = false;
  for (std::size_t i = 0; i < value.sources.size(); ++i) {
    workspace.piece_sources[i] = section.wide(value.sources[i]);
  }
  if (ends.narrow_source != nullptr) {
    launch.conversion.widen(section.narrow(ends.narrow_source), workspace.bounce(0), section.count);
    workspace.piece_sources[0] = workspace.bounce(0);
  }
  wide.sources = {workspace.piece_sources.data(), value.sources.size()};
  const bool is_bounced = value.is_rounded || ends.wide_targets.empty();
  if (is_bounced && wide.is_copy(launch)) return wide.sources[0];
  wide.is_streaming = value.is_streaming && !is_bounced;
  std::size_t targets = 0;
  if (is_bounced) {
    workspace.piece_targets[targets++] = workspace.bounce(1);
  } else {
    for (std::byte* target : ends.wide_targets) workspace.piece_targets[targets++] = section.wide(target);
  }
  wide.targets = {workspace.piece_targets.data(), targets};
  compute(launch, nullptr, workspace, wide);
  return wide.targets[0];
}

void compute_piece(const Launch& launch, Workspace& workspace, const Value& value, const Ends& ends,
                   const Section& section) {
  const std::byte* const result = add_up(launch, workspace, value, ends, section);
  if (ends.narrow_target == nullptr && !value.is_rounded) return;
  // What has been received is used up, so that its place may hold what is rounded and not sent.
  std::byte* const narrow = ends.narrow_target != nullptr ? section.narrow(ends.narrow_target) : workspace.bounce(0);
  launch.conversion.narrow(result, narrow, section.count);
  if (value.is_rounded) expand(launch.conversion, narrow, ends, section);
}

}  // namespace

void compute_converted(const Launch& launch, Workspace& workspace, const Value& value) {
  if (value.bytes == 0 || value.targets.empty()) return;
  const Ends ends(value);
  const bool is_passed_on = ends.narrow_source != nullptr && value.is_copy(launch);
  const std::uint64_t elements = value.bytes / sizeof(float);
  constexpr std::uint64_t kElements = kPieceBytes / sizeof(float);
  for (std::uint64_t begin = 0; begin < elements; begin += kElements) {
    const Section section{begin, std::min(kElements, elements - begin)};
    if (is_passed_on) {
      pass_on(launch, ends, section);
    } else {
      compute_piece(launch, workspace, value, ends, section);
    }
  }
}

}  // namespace tutti::engine

// The arithmetic of one chunk of one step: combining, copying, also across processes, and custom operations behind one
// door.
#pragma once

#include <span>

#include "engine/host/launch.h"
#include "engine/host/workspace.h"
#include "tutti/call.h"
#include "tutti/status.h"

namespace tutti::engine {

struct Value {
  std::span<const std::byte* const> sources = {};
  std::span<std::byte* const> targets = {};
  std::uint64_t bytes = 0;
  const double* factors = nullptr;  // per source; nullptr: none is scaled
  bool finish = false;
  bool is_streaming = false;
  // Of a launch with a wire type: the first source has come in that type, the last target goes in it.
  bool is_first_narrow = false;
  bool is_last_narrow = false;
  bool is_rounded = false;  // to that type, whatever it goes as

  bool needs_conversion() const { return is_first_narrow || is_last_narrow || is_rounded; }
  bool is_copy(const Launch& launch) const {
    return sources.size() == 1 && factors == nullptr && (!finish || launch.divide_by == 1);
  }
};

void compute(const Launch& launch, const CustomOperation* custom, Workspace& workspace, const Value& value);

// The same where some are addresses in other processes, between which the kernel copies: whose source or target each
// is, 0 where it is here.
struct Owners {
  std::span<const int> sources;
  std::span<const int> targets;
};
Status compute_across(const Launch& launch, const CustomOperation* custom, Workspace& workspace, const Value& value,
                      const Owners& owners);

}  // namespace tutti::engine

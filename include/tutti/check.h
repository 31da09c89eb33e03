// The proof that a plan can neither block nor race nor compute anything else than its collective, for every timing.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "tutti/plan.h"

namespace tutti::plan {

struct Proof {
  std::uint64_t steps = 0;
  std::uint64_t messages = 0;
  std::uint64_t reaches = 0;  // slices of another rank's memory
  std::uint32_t slots = 0;    // the fewest slots a pipe needs for the plan not to block
};

enum class FaultKind : std::uint8_t {
  malformed,      // a number out of range, a rank that is not there, memory that cannot be reached
  deadlock,       // a step that can never run
  race,           // two steps touch a chunk, one of them writes, and nothing orders them
  unread,         // a message nobody takes
  wrong_value,    // a contribution missing, counted twice, or in the wrong place
  out_of_bounds,  // a chunk that the buffer does not have
  lifetime,       // a peer's memory touched before it has entered the call or after it may have left
};
std::string_view name_of(FaultKind kind);

struct Fault {
  FaultKind kind;
  Rank rank;
  std::uint32_t lane;
  std::uint32_t step;
  std::string reason;
  std::string text() const;  // "rank 2 lane 0 step 3: deadlock: ..."
};

struct CheckOptions {
  bool in_place = false;
};

std::variant<Proof, Fault> check(const Plan& plan, CheckOptions options = {});

}  // namespace tutti::plan

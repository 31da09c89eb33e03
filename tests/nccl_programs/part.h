// Plays the part of some players of a program on the calling thread, by calls of the NCCL and CUDA interfaces.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/nccl_programs/model.h"
#include "tests/nccl_programs/program.h"

namespace tutti::programs {

// By number of the step that needs them. All players have the same.
using Identifiers = std::map<std::size_t, ncclUniqueId>;
// Steps that need an identifier.
std::vector<std::size_t> steps_with_identifiers(const Program& program);

// What went wrong first; empty: nothing did. Communicators are aborted then, so that others do not wait.
std::string play(const Program& program, const Expected& expected, const std::vector<int>& players,
                 const Identifiers& identifiers);

}  // namespace tutti::programs

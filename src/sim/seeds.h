// Which seeds a simulation test runs, and how a person repeats one that failed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tutti::sim {

// `count` seeds that follow from TUTTI_SEED, one after the other; where TUTTI_SIM_SEED is set, only that one. Stops at
// the first for which the trial says what went wrong, and returns that with the command that repeats it; empty: nothing
// went wrong. `program` and `test` name what has to be run.
std::string run_seeds(std::string_view program, std::string_view test, int count,
                      const std::function<std::string(std::uint64_t seed)>& trial);

}  // namespace tutti::sim

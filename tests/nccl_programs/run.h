// Runs whole programs: with all players in this process, in the threads that the program says, or each in a process of
// its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/nccl_programs/program.h"

namespace tutti::programs {

// A program as a command line can name it.
struct Chosen {
  std::uint64_t seed = 0;
  Validity validity = Validity::valid;
  std::vector<std::size_t> dropped = {};  // steps

  Program program() const;
};

// What went wrong; empty: nothing did. One that does not end ends the process, which says so.
std::string run_in_threads(const Program& program);
// The processes are this program, called anew.
std::string run_in_processes(const Chosen& chosen);

// The exit status of a process that was called by run_in_processes; nothing: it was not.
std::optional<int> run_as_player(int count, char** arguments);

}  // namespace tutti::programs

// Runs another program for a bounded time and keeps what it says: python3, ssh, srun.
#pragma once

#include <string>
#include <vector>

#include "base/deadline.h"
#include "os/child_process.h"
#include "tutti/status.h"

namespace tutti::tool::check {

struct ProgramEnd {
  os::ProcessEnd end = {};
  bool is_late = false;  // it was killed at the deadline
  std::string out = {};
  std::string err = {};
};

inline constexpr std::size_t kProgramOutputBytesMax = std::size_t{64} << 10;  // of each stream; more is dropped

// The first word is found in PATH; nothing is given to read. At the deadline the program and its children are killed.
// Fails where it cannot be started. From any thread.
Result<ProgramEnd> run_program(const std::vector<std::string>& words, Deadline deadline);

// Where PATH leads to; empty: nowhere.
std::string find_program(const std::string& name);

std::string first_line(const std::string& text);  // that is not empty

}  // namespace tutti::tool::check

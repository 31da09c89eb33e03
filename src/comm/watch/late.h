// What a process of this machine is doing, seen from outside: for a rank that others wait for.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "os/process.h"

namespace tutti::comm::watch {

struct Activity {
  std::string program = {};
  os::ProcessState state = os::ProcessState::unknown;
  std::string system_call = {};         // the number, or "running"; empty: the kernel does not tell
  std::string wait_channel = {};        // where in the kernel it sleeps; empty: nowhere, or not told
  std::vector<std::string> stack = {};  // of the main thread, innermost first; empty: see stack_note
  std::string stack_note = {};          // why there is no stack
};

enum class StackWish : std::uint8_t { without_stack, with_stack };

// Takes 200 ms at most, and longer where libdw has to read large programs. Of this very process: from another thread
// than the main one. For a stack the process is halted for some of that, and always goes on afterwards.
Activity activity_of(pid_t pid, StackWish wish);

// "train (sleeping in futex_wait, system call 202)".
std::string text_of(const Activity& activity);

inline constexpr std::size_t kSentenceBytesMax = 900;  // three of them fit a line of the log
// The same with the innermost frames: "..., at read_block < load_batch < main".
std::string sentence_of(const Activity& activity);

}  // namespace tutti::comm::watch

// The registers and the stack of a thread of another process, or of this one's main thread, copied while it is halted
// for a moment.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tutti/status.h"

namespace tutti::os {

struct HaltedThread {
  // In the order that debuggers number them on this architecture (DWARF); the program counter apart.
  std::vector<std::uint64_t> registers;
  std::uint64_t program_counter = 0;
  std::uint64_t stack_pointer = 0;
  std::uint64_t frame_pointer = 0;
  std::vector<std::byte> stack;  // from the stack pointer upwards, as far as it could be read
};

// Needs the permission to trace the process. It is halted only while the copy is made, at most for `limit`, and goes on
// whatever happens here, even if this process dies meanwhile. One that was stopped stays stopped.
Result<HaltedThread> copy_thread(pid_t thread, std::chrono::nanoseconds limit);
// The same of this process's own main thread, from another one of its threads.
Result<HaltedThread> copy_main_thread(std::chrono::nanoseconds limit);

}  // namespace tutti::os

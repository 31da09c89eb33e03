// Reading and writing the memory of another process of the same user, without its help and with one copy.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

#include "tutti/status.h"

namespace tutti::os {

// Whether it works here, by trying: containers, ptrace_scope and old kernels forbid it. True when `expected` is what
// lies at that address of the other process.
bool can_read(pid_t pid, const void* address, std::span<const std::byte> expected);

// The same for writing. What lies there is read and written back, so nobody notices; the other process must not change
// it meanwhile.
bool can_write(pid_t pid, void* address, std::span<const std::byte> expected);

// All bytes, or why not.
Status read_memory(pid_t pid, std::byte* local, const void* remote, std::size_t bytes);
Status write_memory(pid_t pid, void* remote, const std::byte* local, std::size_t bytes);

}  // namespace tutti::os

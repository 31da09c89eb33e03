// What another process of this machine is doing, as the kernel sees it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

namespace tutti::os {

enum class ProcessState : std::uint8_t { running, sleeping, stopped, zombie, gone, unknown };

std::string_view name_of(ProcessState state);  // "running", or for a zombie "ended but not waited for": for messages

// unknown also where the process exists and the kernel hides it.
ProcessState state_of(pid_t pid);

// From the text of /proc/PID/stat.
ProcessState parse_state(std::string_view stat);

}  // namespace tutti::os

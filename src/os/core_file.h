// Where the kernel puts the memory of a process that crashed, for messages. Pure but for the last function.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace tutti::os {

struct Crash {
  pid_t pid = 0;
  std::string program;  // its path or name
  std::string folder;   // where it ran; empty: unknown
  int signal = 0;
  std::string host;
};

// What core_pattern(5) makes of it: a path, or for "|handler ..." what took it: "given to /usr/lib/systemd/...".
// `has_pid` is /proc/sys/kernel/core_uses_pid. What only the kernel knows (the time, users) becomes a '*'.
std::string core_file_text(std::string_view pattern, bool has_pid, const Crash& crash);

// By the settings of this machine.
std::string core_file_text(const Crash& crash);

}  // namespace tutti::os

#include "os/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include "os/file_descriptor.h"

namespace tutti::os {

std::string_view name_of(ProcessState state) {
  switch (state) {
    case ProcessState::running: return "running";
    case ProcessState::sleeping: return "sleeping";
    case ProcessState::stopped: return "stopped";
    case ProcessState::zombie: return "ended but not waited for";
    case ProcessState::gone: return "gone";
    case ProcessState::unknown: return "in an unknown state";
  }
  return "in an unknown state";
}

ProcessState parse_state(std::string_view stat) {
  // "PID (name) S ...": the name may hold blanks and parentheses, but nothing after it does.
  const std::size_t end = stat.rfind(')');
  if (end == std::string_view::npos || end + 2 >= stat.size() || stat[end + 1] != ' ') return ProcessState::unknown;
  switch (stat[end + 2]) {
    case 'R': return ProcessState::running;
    case 'S':
    case 'D':
    case 'I':
    case 'P': return ProcessState::sleeping;
    case 'T':
    case 't': return ProcessState::stopped;
    case 'Z': return ProcessState::zombie;
    case 'X':
    case 'x': return ProcessState::gone;
    default: return ProcessState::unknown;
  }
}

ProcessState state_of(pid_t pid) {
  if (pid <= 0) return ProcessState::unknown;
  const FileDescriptor file(open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> text{};  // the state comes third, after a name of at most 64 bytes
  const ssize_t got = file.is_open() ? read(file.get(), text.data(), text.size()) : -1;
  if (got > 0) return parse_state({text.data(), static_cast<std::size_t>(got)});
  return kill(pid, 0) != 0 && errno == ESRCH ? ProcessState::gone : ProcessState::unknown;
}

}  // namespace tutti::os

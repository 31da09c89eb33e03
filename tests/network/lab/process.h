// Programs that run on a virtual host or on this machine, their output kept in memory, their end awaited with a
// deadline.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "os/file_descriptor.h"
#include "tutti/status.h"

namespace tutti::lab {

// Instead of a keeper: the program runs where we are, and nobody needs a permission for that.
inline constexpr pid_t kThisMachine = 0;

struct Program {
  std::vector<std::string> words;                       // the program, found in PATH, and its arguments
  std::map<std::string, std::string> environment = {};  // on top of ours
  std::string input = {};                               // what it reads
  std::string folder = {};                              // where it starts; empty: where we are
};

// A program and the group of what it starts. All of it is killed when this is destroyed, or when the maker ends.
class Process {
 public:
  static Result<Process> start(pid_t keeper, const Program& program);
  Process(Process&& other) noexcept = default;
  Process& operator=(Process&& other) = delete;
  ~Process();

  pid_t pid() const { return pid_; }
  std::string output() const;  // what it has written so far, to stdout and stderr
  void send(int signal) const;
  // Its exit code, 128 + n when signal n ended it; nothing: it still runs when the limit is over.
  std::optional<int> wait(std::chrono::nanoseconds limit);

 private:
  Process(pid_t pid, os::FileDescriptor output) : pid_(pid), output_(std::move(output)) {}

  pid_t pid_;
  os::FileDescriptor output_;  // closed: moved from
  std::optional<int> exit_code_;
};

// Until it ends. Fails with its output where it ends with another code than 0, or is killed at the end of the limit.
Result<std::string> run_program(pid_t keeper, const Program& program, std::chrono::nanoseconds limit);

// True once the process, of whoever, has ended.
bool has_ended(pid_t pid, std::chrono::nanoseconds limit);

}  // namespace tutti::lab

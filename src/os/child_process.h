// A program that runs as a child of this process: how it is started, why it could not be, how it ended.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "os/file_descriptor.h"
#include "tutti/status.h"

namespace tutti::os {

struct ChildSettings {
  std::vector<std::string> words = {};        // the program, found in PATH of `environment`, and its arguments
  std::vector<std::string> environment = {};  // all of it: "NAME=value"
  std::string folder = {};                    // empty: that of this process
  // Borrowed until start() returns. Negative: /dev/null.
  int input = -1;
  int output = -1;
  int error = -1;
  std::vector<int> cpus = {};  // which it may run on; empty: those of this process
};

// How a process ended: by a signal, or by exit(code) where that is 0.
struct ProcessEnd {
  int code = 0;
  int signal = 0;
  bool has_core = false;
  bool operator==(const ProcessEnd&) const = default;
};

// The child leads a process group of its own, has every signal as a new program has it and no descriptor but the three,
// and is killed when the thread that started it ends. Whoever destroys the object leaves it running.
class ChildProcess {
 public:
  // Returns when the program runs, or with the reason why it does not: then there is no child.
  static Result<ChildProcess> start(const ChildSettings& settings);

  pid_t pid() const { return pid_; }
  int descriptor() const { return descriptor_.get(); }  // readable once the child has ended: for an event loop
  std::optional<ProcessEnd> try_wait();                 // nullopt: it runs. The same again once it has ended.
  // Nothing once it has been waited for, though processes of its group may live on: see process_tree.h.
  void send_signal(int signal) const;
  void signal_group(int signal) const;

 private:
  ChildProcess(pid_t pid, FileDescriptor descriptor) : pid_(pid), descriptor_(std::move(descriptor)) {}
  pid_t pid_;
  FileDescriptor descriptor_;
  std::optional<ProcessEnd> end_ = {};
};

// The variables of this process as "NAME=value".
std::vector<std::string> whole_environment();

}  // namespace tutti::os

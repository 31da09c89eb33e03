// The terminal while `tutti top` has it: another screen, keys without Enter, and everything as before at the end.
#pragma once

#include <signal.h>
#include <termios.h>

#include <memory>
#include <string_view>

#include "os/file_descriptor.h"
#include "tools/tutti/top/frame.h"
#include "tutti/status.h"

namespace tutti::tool::top {

// There is at most one. It is put back when this is destroyed, and also when the process crashes.
class Terminal {
 public:
  static Result<std::unique_ptr<Terminal>> create();  // of stdin and stdout
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  void enter();  // also again, after leave()
  void leave();
  Status write(std::string_view bytes);  // peer_lost: the terminal is gone
  Size size() const;

 private:
  explicit Terminal(const termios& before) : before_(before) {}
  termios before_;
  bool is_entered_ = false;
};

// SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP and SIGWINCH as something to read, for as long as this lives.
class SignalReader {
 public:
  static Result<std::unique_ptr<SignalReader>> create();
  SignalReader(const SignalReader&) = delete;
  SignalReader& operator=(const SignalReader&) = delete;
  ~SignalReader();
  int descriptor() const { return fd_.get(); }
  int take();  // 0: none

 private:
  SignalReader(os::FileDescriptor fd, const sigset_t& before) : fd_(std::move(fd)), before_(before) {}
  os::FileDescriptor fd_;
  sigset_t before_;
};

}  // namespace tutti::tool::top

// Signals of this process as calls from a loop.
#pragma once

#include <signal.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "os/event_loop.h"
#include "tutti/status.h"

namespace tutti::launch {

// As long as it lives, the signals it has taken do nothing else. Those that were ignored before stay ignored, as nohup
// wishes it. On the thread that runs the loop, before others are started.
class SignalWatch {
 public:
  static Result<std::unique_ptr<SignalWatch>> create(os::EventLoop& loop, const std::vector<int>& signals,
                                                     std::function<void(int)> on_signal);
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();

 private:
  SignalWatch(os::EventLoop& loop, os::FileDescriptor descriptor, const sigset_t& before)
      : loop_(loop), descriptor_(std::move(descriptor)), before_(before) {}
  void take();

  os::EventLoop& loop_;
  os::FileDescriptor descriptor_;
  sigset_t before_;
  std::function<void(int)> on_signal_;
  os::EventLoop::Watch watch_ = {};
};

// Signals that would stop or end a process that uses a terminal from the background or a pipe that nobody reads: its
// calls fail instead.
class IgnoredSignals {
 public:
  IgnoredSignals();
  IgnoredSignals(const IgnoredSignals&) = delete;
  IgnoredSignals& operator=(const IgnoredSignals&) = delete;
  ~IgnoredSignals();

 private:
  std::vector<std::pair<int, struct sigaction>> before_;
};

}  // namespace tutti::launch

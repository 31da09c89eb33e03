// Reads the standard input of the launcher, whatever it is, as fast as somebody takes it.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "os/event_loop.h"

namespace tutti::launch {

// Never blocks on a terminal or a pipe, and leaves the descriptor's own mode alone, which other processes share. From a
// terminal it reads only while this process is in the foreground.
class InputPump {
 public:
  struct Target {
    std::function<std::size_t()> room;                     // how many bytes may be given now
    std::function<void(std::span<const std::byte>)> give;  // at least one
    std::function<void()> end;                             // once, after all
  };
  InputPump(os::EventLoop& loop, int fd, Target target);
  InputPump(const InputPump&) = delete;
  InputPump& operator=(const InputPump&) = delete;
  ~InputPump();

  void start();
  void resume();  // there is room again, or this process may be in the foreground again
  bool has_ended() const { return has_ended_; }

 private:
  void wait();
  void advance();
  void retry_later();
  bool is_in_background() const;
  void end();

  os::EventLoop& loop_;
  int fd_;
  Target target_;
  bool has_started_ = false;
  bool has_ended_ = false;
  bool is_always_ready_ = false;  // a file: no loop can wait for it
  os::EventLoop::Watch watch_ = {};
  os::EventLoop::Timer timer_ = {};
};

}  // namespace tutti::launch

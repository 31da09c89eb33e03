// `tutti top` while it runs: asks the launcher again and again, draws what it answers and follows the keys.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "launch/control/client.h"
#include "os/event_loop.h"
#include "tools/tutti/top/frame.h"
#include "tools/tutti/top/keys.h"
#include "tools/tutti/top/screen.h"
#include "tools/tutti/top/terminal.h"

namespace tutti::tool::top {

enum class EndedBy : std::uint8_t { user, job, signal };

struct SessionEnd {
  EndedBy by = EndedBy::user;
  int signal = 0;
};

// The terminal is as before when this returns.
class Session {
 public:
  Session(launch::control::Client client, std::chrono::nanoseconds interval, Order order)
      : client_(std::move(client)), interval_(interval) {
    view_.order = order;
  }
  Result<SessionEnd> run();

 private:
  Status watch();
  void ask();
  void take_answer();
  void take_typed();
  void take_signal();
  void follow(Key key);
  void scroll(std::ptrdiff_t rows);
  void draw();
  void watch_silence();
  void pause();
  void end(SessionEnd how);
  void fail(const Status& why);

  launch::control::Client client_;
  std::chrono::nanoseconds interval_;
  // In this order: signals are let through again only when the terminal is as before.
  std::unique_ptr<SignalReader> signals_;
  std::unique_ptr<Terminal> terminal_;
  std::unique_ptr<os::EventLoop> loop_;
  Screen screen_;
  View view_;
  launch::JobStatus job_;
  bool has_job_ = false;
  std::string typed_;
  Time asked_at_ = {};
  bool is_waiting_ = false;  // for an answer
  bool has_ended_ = false;
  SessionEnd end_;
  Status failure_;
};

}  // namespace tutti::tool::top

// The end of all that runs on this host: politely first, then by force, until nothing is left.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "base/deadline.h"
#include "os/event_loop.h"

namespace tutti::launch {

// On the thread of the loop.
class Ending {
 public:
  struct Job {
    std::function<void(int signal)> signal_ranks;  // their process groups
    std::function<bool()> has_ranks;               // which have not ended with all their output
    std::function<std::vector<pid_t>()> ranks;     // their leaders that run: their groups get signals by signal_ranks
    std::function<std::vector<pid_t>()> spared;    // children that end in their own way
    std::function<void()> reap;                    // orphans that have ended
    std::function<void()> done;                    // nothing is left; from the loop
  };
  Ending(os::EventLoop& loop, Job job) : loop_(loop), job_(std::move(job)) {}
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  ~Ending() { loop_.cancel(timer_); }

  // SIGTERM at once, SIGKILL after the grace. While it is under way, the shorter grace counts.
  void begin(std::chrono::milliseconds grace);
  bool is_under_way() const { return kill_at_.has_value(); }
  void look_again();  // something has ended

 private:
  void ask_politely();
  void advance();

  os::EventLoop& loop_;
  Job job_;
  std::optional<Time> kill_at_ = {};
  os::EventLoop::Timer timer_ = {};
};

}  // namespace tutti::launch

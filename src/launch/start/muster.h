// Brings the agents of a job up, each in its way, and waits until all of them have answered.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launch/crew.h"
#include "launch/settings.h"
#include "launch/start/slurm_step.h"
#include "launch/start/tree.h"
#include "os/event_loop.h"

namespace tutti::launch {

// On the thread of the loop, and told of everything that the crew hears.
class Muster {
 public:
  struct Listener {
    std::function<void(const std::string&)> say;  // to people, while it takes long
    std::function<void(const Status&)> done;      // once: all have answered, or why that will not happen
    std::function<void()> step_ended;             // that of Slurm, at whatever time
  };
  Muster(os::EventLoop& loop, const Settings& settings, Crew& crew, Listener listener);
  Muster(const Muster&) = delete;
  Muster& operator=(const Muster&) = delete;
  ~Muster();

  void begin();
  void hello(HostIndex host, const Hello& hello);
  void lost(HostIndex root, const std::vector<HostIndex>& hosts, const std::string& why);  // a line
  void lost_below(HostIndex host, const std::string& why);  // what another agent had to start

  const Hello& hello_of(HostIndex host) const { return *hellos_[host]; }  // once it is done
  bool has_answered(HostIndex host) const { return hellos_[host].has_value(); }
  std::vector<HostIndex> below(HostIndex host) const;  // it and all that were started through it
  void cancel();                                       // nobody wants to know any more
  const SlurmStep* step() const { return step_.get(); }
  void close(bool is_complete);  // a step in which some agents may not have come is cancelled

 private:
  Status start();
  Status start_here(HostIndex host);
  Status start_bough(const Bough& bough);
  Status start_step();
  Branch branch_of(const Bough& bough) const;
  std::vector<std::string> words_for(HostIndex host) const;
  void report_progress();
  std::vector<std::string> missing() const;
  void finish(const Status& status);

  os::EventLoop& loop_;
  const Settings& settings_;
  Crew& crew_;
  Listener listener_;
  std::vector<Bough> boughs_;  // of the hosts that are reached by ssh
  std::vector<std::optional<Hello>> hellos_;
  std::vector<bool> was_tried_again_;
  bool has_told_of_trying_ = false;
  bool is_done_ = false;
  std::unique_ptr<SlurmStep> step_;
  os::EventLoop::Timer progress_timer_ = {};
  os::EventLoop::Timer deadline_timer_ = {};
};

}  // namespace tutti::launch

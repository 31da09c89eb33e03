// A program that the launcher has running beside it, such as ssh, srun or an agent: what it complains about is kept,
// and its end is noticed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/child_process.h"
#include "os/event_loop.h"
#include "tutti/status.h"

namespace tutti::launch {

// On the thread of the loop.
class Program {
 public:
  struct Settings {
    std::vector<std::string> words = {};
    std::vector<std::string> environment = {};  // all of it: "NAME=value"
    int input = -1;                             // borrowed; negative: /dev/null
    int output = -1;                            // likewise
    bool keeps_output = false;                  // among the complaints
    bool has_children = false;                  // that get its signals too, as the connections of ssh through others do
  };
  static Result<std::unique_ptr<Program>> start(os::EventLoop& loop, const Settings& settings);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();  // it is killed where it still runs

  void on_end(std::function<void()> function) { on_end_ = std::move(function); }  // from the loop
  const std::optional<os::ProcessEnd>& end() const { return end_; }               // nullopt: it runs
  pid_t pid() const { return child_.pid(); }
  void signal(int signal) const;
  void signal_group(int signal) const { child_.signal_group(signal); }  // and what it has started
  const std::string& complaints();  // the last of what it has written to stderr until now

 private:
  static constexpr std::size_t kComplaintBytesMax = std::size_t{8} << 10;

  Program(os::EventLoop& loop, os::ChildProcess child, os::FileDescriptor error)
      : loop_(loop), child_(std::move(child)), error_(std::move(error)) {}
  Status watch();
  void read();

  os::EventLoop& loop_;
  os::ChildProcess child_;
  os::FileDescriptor error_;
  bool has_children_ = false;
  std::string complaints_;
  std::optional<os::ProcessEnd> end_;
  std::function<void()> on_end_;
  os::EventLoop::Watch end_watch_ = {};
  os::EventLoop::Watch error_watch_ = {};
};

}  // namespace tutti::launch

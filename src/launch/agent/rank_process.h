// A rank as a process of this host: its streams, its end.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "launch/agent/input_pipe.h"
#include "launch/agent/output_pipe.h"
#include "launch/message.h"
#include "os/child_process.h"
#include "os/event_loop.h"
#include "tutti/status.h"

namespace tutti::launch {

// On the thread of the loop.
class RankProcess {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void rank_wrote(Rank rank, Stream stream, Bytes bytes) = 0;
    virtual void rank_took(Rank rank, std::uint32_t bytes) = 0;
    // After all that it wrote; from the loop. The process may be destroyed then, though not during the call.
    virtual void rank_ended(Rank rank) = 0;
  };
  enum class Reads : std::uint8_t { nothing, input };

  // `settings` without the streams, which are pipes to this process.
  static Result<std::unique_ptr<RankProcess>> start(os::EventLoop& loop, Rank rank, os::ChildSettings settings,
                                                    Reads reads, Owner& owner);
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;
  ~RankProcess();

  Rank rank() const { return rank_; }
  pid_t pid() const { return child_->pid(); }
  void take_input(const Input& input);
  void set_reading(bool is_reading);           // of its output
  void signal_group(int signal, bool is_end);  // is_end: meant to end it
  bool has_exited() const { return end_.has_value(); }
  Ended ended() const;  // once it has

 private:
  RankProcess(os::EventLoop& loop, Rank rank, os::ChildSettings settings, Owner& owner)
      : loop_(loop), rank_(rank), settings_(std::move(settings)), owner_(owner) {}
  Status open(Reads reads);
  Status watch();
  void exited();
  void settle();  // ended once its process is and its streams are
  void cut_streams();

  os::EventLoop& loop_;
  Rank rank_;
  os::ChildSettings settings_;
  Owner& owner_;
  std::unique_ptr<OutputPipe> out_, err_;
  std::unique_ptr<InputPipe> in_;  // null: it reads nothing
  std::optional<os::ChildProcess> child_;
  std::optional<os::ProcessEnd> end_;
  bool was_stopped_ = false;
  bool is_reading_ = true;
  bool is_told_ = false;
  os::EventLoop::Watch watch_ = {};
  os::EventLoop::Timer timer_ = {};
};

}  // namespace tutti::launch

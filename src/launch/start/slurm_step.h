// The step of Slurm in which the agents of a job run, and the port at which they come in.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launch/settings.h"
#include "launch/start/link.h"
#include "os/event_loop.h"
#include "rpc/courier.h"

namespace tutti::launch {

// On the thread of the loop.
class SlurmStep {
 public:
  struct Listener {
    std::function<void(HostIndex, Link)> arrived;
    std::function<void(const std::string& why)> ended;  // srun has
  };
  static Result<std::unique_ptr<SlurmStep>> start(os::EventLoop& loop, const Settings& settings,
                                                  const std::vector<std::string>& agent_words, Listener listener);
  SlurmStep(const SlurmStep&) = delete;
  SlurmStep& operator=(const SlurmStep&) = delete;
  ~SlurmStep();

  void cancel() const;  // and with it what runs in it
  bool has_ended() const { return srun_->end().has_value(); }

 private:
  SlurmStep(os::EventLoop& loop, Listener listener) : loop_(loop), listener_(std::move(listener)) {}
  Status open(const Settings& settings, const std::vector<std::string>& agent_words);
  Result<std::unique_ptr<Program>> start_srun(const Settings& settings, const std::vector<std::string>& agent_words,
                                              const std::string& ticket);
  void take(const Bytes& announcement, rpc::Conduit conduit, std::size_t host_count);

  os::EventLoop& loop_;
  Listener listener_;
  std::unique_ptr<rpc::Courier> courier_;
  std::unique_ptr<Program> srun_;
  std::shared_ptr<int> life_ = std::make_shared<int>();  // for calls that come later
};

}  // namespace tutti::launch

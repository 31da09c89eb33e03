// One question to all hosts for samples of their ranks, and who waits for the answers.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "launch/job.h"
#include "os/event_loop.h"

namespace tutti::launch {

class SampleRound {
 public:
  explicit SampleRound(os::EventLoop& loop) : loop_(loop) {}
  SampleRound(const SampleRound&) = delete;
  SampleRound& operator=(const SampleRound&) = delete;
  ~SampleRound();

  bool is_open() const { return timer_.is_set(); }
  void open(std::set<HostIndex> hosts);  // that are asked now
  void join(std::function<void()> done);
  void answered(HostIndex host);  // or gone

 private:
  void close();

  os::EventLoop& loop_;
  std::set<HostIndex> waiting_;
  std::vector<std::function<void()>> done_;
  os::EventLoop::Timer timer_ = {};
};

}  // namespace tutti::launch

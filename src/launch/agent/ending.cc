#include "launch/agent/ending.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "os/clock.h"
#include "os/process_tree.h"

namespace tutti::launch {
namespace {

constexpr std::chrono::milliseconds kRound(20);  // how often is looked for what is left

std::vector<os::ProcessFacts> living(const std::vector<pid_t>& without) {
  std::vector<os::ProcessFacts> left = os::ProcessTree::read().descendants_of(::getpid(), without);
  std::erase_if(left, [](const os::ProcessFacts& process) { return !os::is_alive(process); });
  return left;
}

}  // namespace

void Ending::begin(std::chrono::milliseconds grace) {
  const Time kill_at = Deadline::after(os::now(), grace).at;
  const bool is_new = !kill_at_;
  kill_at_ = is_new ? kill_at : std::min(*kill_at_, kill_at);
  if (is_new && grace.count() > 0) ask_politely();
  look_again();
}

void Ending::look_again() {
  if (!is_under_way()) return;
  loop_.cancel(timer_);
  timer_ = loop_.call_at(os::now(), [this] { advance(); });
}

void Ending::ask_politely() {
  job_.signal_ranks(SIGTERM);
  job_.signal_ranks(SIGCONT);  // who is halted cannot end
  const std::vector<pid_t> ranks = job_.ranks();
  for (const os::ProcessFacts& process : living(job_.spared())) {
    if (std::ranges::find(ranks, process.group) == ranks.end()) os::send_signal(process, SIGTERM);
  }
}

void Ending::advance() {
  timer_ = {};
  job_.reap();
  const std::vector<os::ProcessFacts> left = living(job_.spared());
  if (left.empty() && !job_.has_ranks()) {
    kill_at_.reset();
    return job_.done();
  }
  if (*kill_at_ <= os::now()) {
    job_.signal_ranks(SIGKILL);
    for (const os::ProcessFacts& process : left) os::send_signal(process, SIGKILL);
  }
  timer_ = loop_.call_at(Deadline::after(os::now(), kRound).at, [this] { advance(); });
}

}  // namespace tutti::launch

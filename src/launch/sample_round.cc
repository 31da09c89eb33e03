#include "launch/sample_round.h"

#include <chrono>
#include <utility>

#include "os/clock.h"

namespace tutti::launch {

namespace {

constexpr std::chrono::seconds kAnswerTime(1);

}  // namespace

SampleRound::~SampleRound() { loop_.cancel(timer_); }

void SampleRound::open(std::set<HostIndex> hosts) {
  waiting_ = std::move(hosts);
  // Without hosts it is over at once, but not within this call.
  const Time at = waiting_.empty() ? os::now() : Deadline::after(os::now(), kAnswerTime).at;
  timer_ = loop_.call_at(at, [this] { close(); });
}

void SampleRound::join(std::function<void()> done) { done_.push_back(std::move(done)); }

void SampleRound::answered(HostIndex host) {
  if (is_open() && waiting_.erase(host) > 0 && waiting_.empty()) close();
}

void SampleRound::close() {
  loop_.cancel(timer_);
  const auto done = std::exchange(done_, {});
  for (const auto& function : done) function();
}

}  // namespace tutti::launch

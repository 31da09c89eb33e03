// What a job hears from its agents, its user and its clock.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "launch/job_run.h"
#include "os/clock.h"

namespace tutti::launch {

namespace {

constexpr std::chrono::milliseconds kHaltLook(5);     // how often a launcher looks whether its ranks know of the halt
constexpr std::chrono::milliseconds kHaltTime(1000);  // and how long

}  // namespace

void JobRun::heard(HostIndex host, Message message) {
  if (phase_ == Phase::closing || phase_ == Phase::over) {
    // Ranks are gone by now; what they have written last still counts.
    if (const auto* output = std::get_if<Output>(&message); output != nullptr && verdict_) hear(host, *output);
    return;
  }
  std::visit([&](const auto& each) { hear(host, each); }, message);
  look();
}

void JobRun::lost(HostIndex root, const std::vector<HostIndex>& hosts, const std::string& why) {
  if (phase_ == Phase::mustering) return muster_.lost(root, hosts, why);
  lose(hosts, why);
  look();
}

void JobRun::hear(HostIndex, const Lost& lost) {
  if (phase_ == Phase::mustering) return muster_.lost_below(lost.host, lost.text);
  if (lost.host >= crew_.host_count()) return;
  const auto hosts = muster_.below(lost.host);
  crew_.forget(hosts);
  lose(hosts, lost.text);
}

void JobRun::hear(HostIndex host, const Started& started) {
  roll_.started(started);
  if (!settings_.reports_bindings) return;
  say(fmt::format("rank {} on {}: {}", started.rank, name_of_host(host),
                  started.binding.empty() ? "not bound" : started.binding));
}

void JobRun::hear(HostIndex, const CannotStart& failure) {
  if (!verdict_) return;
  roll_.cannot_start(failure.rank);
  feed_.left(failure.rank);
  judge(verdict_->cannot_start(failure, os::now()));
}

void JobRun::hear(HostIndex, const Output& output) {
  if (output.rank < 0 || output.rank >= layout_.size()) return;
  printer_->print(output.rank, output.stream, output.bytes);
  if (const Status failure = printer_->failure(); !failure && !std::exchange(has_told_of_printer_, true)) {
    say(fmt::format("the output cannot be written: {}", failure.text()));
    is_end_wanted_ = true;
    judge(verdict_->output_lost(failure, os::now()));
  }
  if (printer_->is_full()) crew_.set_reading(false);
}

void JobRun::hear(HostIndex, const Ended& ended) {
  if (!verdict_ || ended.rank < 0 || ended.rank >= layout_.size()) return;
  printer_->end(ended.rank);
  roll_.ended(ended);
  feed_.left(ended.rank);
  judge(verdict_->ended(ended, os::now()));
}

void JobRun::hear(HostIndex host, const Samples& samples) {
  roll_.sampled(samples);
  samples_.answered(host);
}

void JobRun::hear(HostIndex host, const Note& note) { say(fmt::format("{}: {}", name_of_host(host), note.text)); }

void JobRun::beat() {
  crew_.send_all(Beat{});
  for (const HostIndex host : crew_.silent(settings_.silence)) {
    if (!crew_.is_reached(host)) continue;
    crew_.forget({host});
    lose({host}, fmt::format("it was silent for {} s", settings_.silence.count()));
  }
  const auto pause = std::max(std::chrono::milliseconds(100), std::chrono::milliseconds(settings_.silence) / 3);
  beat_timer_ = loop_.call_at(Deadline::after(os::now(), pause).at, [this] { beat(); });
  look();
}

void JobRun::take_signal(int signal) {
  if (signal == SIGTSTP) return halt();
  if (signal != SIGCONT) {
    interrupt(signal);
    return look();
  }
  crew_.forgive();
  crew_.send_all(Signal{.rank = kNoRank, .signal = SIGCONT});
  feed_.resume();
}

void JobRun::interrupt(int signal) {
  is_end_wanted_ = true;
  switch (phase_) {
    case Phase::mustering:
      early_signal_ = signal;
      muster_.cancel();
      say("interrupted before all hosts had answered");
      return close();
    case Phase::running: return judge(verdict_->interrupted(signal, os::now()));
    case Phase::clearing: return;
    case Phase::closing:
    case Phase::over:
      ++late_signals_;
      // Agents and their guards end their ranks by themselves, with nobody watching.
      if (phase_ == Phase::closing) finish();
  }
}

// All ranks stop before the launcher does, which then cannot tell them any more.
void JobRun::halt() {
  crew_.send_all(Signal{.rank = kNoRank, .signal = SIGSTOP});
  halt_once_sent(Deadline::after(os::now(), kHaltTime));
}

void JobRun::halt_once_sent(Deadline deadline) {
  if (crew_.has_queued() && !deadline.has_passed(os::now())) {
    loop_.cancel(halt_timer_);
    halt_timer_ = loop_.call_at(Deadline::after(os::now(), kHaltLook).at, [this, deadline] {
      halt_timer_ = {};
      halt_once_sent(deadline);
    });
    return;
  }
  ::kill(::getpid(), SIGSTOP);
  crew_.forgive();  // nobody was silent meanwhile
}

void JobRun::stop() {
  loop_.call_later([this] { take_signal(SIGTERM); });
}

void JobRun::kill() {
  is_end_wanted_ = true;
  if (phase_ != Phase::running) return stop();
  judge(verdict_->interrupted(SIGTERM, os::now()));
  apply(Measure::kill);
}

Status JobRun::signal(int signal, Rank rank) {
  if (phase_ != Phase::running) return {Code::invalid_usage, "no rank of the job runs at the moment"};
  if (rank == kNoRank) {
    crew_.send_all(Signal{.rank = kNoRank, .signal = signal});
    return {};
  }
  if (!roll_.is_running(rank))
    return invalid_argument(fmt::format("rank {} does not run; the job has ranks 0 to {}", rank, layout_.size() - 1));
  crew_.send(layout_.seats[static_cast<std::size_t>(rank)].host, Signal{.rank = rank, .signal = signal});
  return {};
}

void JobRun::ask_samples(std::function<void()> done) {
  samples_.join(std::move(done));
  if (samples_.is_open()) return;
  std::set<HostIndex> hosts;
  for (HostIndex host = 0; host < crew_.host_count(); ++host) {
    if (crew_.is_reached(host) && muster_.has_answered(host)) hosts.insert(host);
  }
  for (const HostIndex host : hosts) crew_.send(host, AskSamples{});
  samples_.open(std::move(hosts));
}

}  // namespace tutti::launch

// What an elastic job hears from its agents, its user and its clock.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>

#include "launch/elastic/elastic_run.h"
#include "launch/verdict.h"
#include "os/clock.h"
#include "tutti/version.h"

namespace tutti::launch {
namespace {

constexpr std::chrono::seconds kAnswerTime(10);        // beyond the grace, for hosts to say that all is over
constexpr std::chrono::milliseconds kReportLook(100);  // how often the ranks' own reports are looked at

std::string text_of(const Ended& ended) {
  return ended.signal != 0 ? fmt::format("signal {}", ended.signal) : fmt::format("exit code {}", ended.code);
}

}  // namespace

void ElasticRun::heard(HostIndex host, Message message) {
  if (phase_ == Phase::over) return;
  std::visit([&](const auto& each) { hear(host, each); }, message);
  look();
}

void ElasticRun::lost(HostIndex, const std::vector<HostIndex>& hosts, const std::string& why) {
  for (const HostIndex host : hosts) lose(host, why);
  look();
}

void ElasticRun::lose(HostIndex host, const std::string& why) {
  const std::string name = agents_[host].name;
  const auto current = agents_by_name_.find(name);
  if (current == agents_by_name_.end() || current->second != host) return;  // it has been lost before
  agents_by_name_.erase(current);
  crew_.forget({host});
  samples_.answered(host);
  std::vector<WorkerId> gone;
  for (const auto& [id, worker] : workers_) {
    if (worker.host == host) gone.push_back(id);
  }
  for (const WorkerId id : gone) drop(id);
  if (phase_ != Phase::running) return;
  say(fmt::format("host {} is lost: {}", name, why));
  last_failure_code_ = kHostLostCode;
  take(policy_.host_lost(name, why, os::now()));
}

void ElasticRun::drop(WorkerId worker) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  printer_->end(found->second.label);
  loop_.cancel(found->second.kill_timer);
  workers_.erase(found);
}

void ElasticRun::hear(HostIndex host, const Hello& hello) {
  if (phase_ != Phase::running) return;
  if (hello.version != TUTTI_VERSION) {
    return lose(host, fmt::format("it has version {} of Tutti at {}, and this machine has version {}; install the same "
                                  "on all hosts, or give --agent-path",
                                  hello.version, settings_.agent, TUTTI_VERSION));
  }
  agents_[host].hello = hello;
  for (auto& [id, worker] : workers_) {
    if (worker.host == host && !worker.has_begun) begin_worker(worker);
  }
}

void ElasticRun::hear(HostIndex host, const Started& started) {
  const auto found = workers_.find(started.rank);
  if (found == workers_.end()) return;
  found->second.pid = started.pid;
  if (settings_.reports_bindings) {
    say(fmt::format("worker {} on {}: {}", started.rank, agents_[host].name,
                    started.binding.empty() ? "not bound" : started.binding));
  }
  if (phase_ == Phase::running) take(policy_.worker_started(started.rank, os::now()));
}

void ElasticRun::hear(HostIndex host, const CannotStart& failure) {
  drop(failure.rank);
  if (phase_ != Phase::running) return;
  say(fmt::format("worker {} cannot be started on {}: {}", failure.rank, agents_[host].name, failure.text));
  last_failure_code_ = kCannotStartCode;
  take(policy_.worker_ended(failure.rank, Ending::not_started, failure.text, os::now()));
}

void ElasticRun::hear(HostIndex, const Output& output) {
  const auto found = workers_.find(output.rank);
  if (found == workers_.end()) return;
  printer_->print(found->second.label, output.stream, output.bytes);
  if (const Status failure = printer_->failure(); !failure && !std::exchange(has_told_of_printer_, true))
    take_signal(SIGPIPE);
  if (printer_->is_full()) crew_.set_reading(false);
}

void ElasticRun::hear(HostIndex host, const Ended& ended) {
  if (!workers_.contains(ended.rank)) return;
  drop(ended.rank);
  if (phase_ != Phase::running) return;
  const bool is_well = ended.signal == 0 && ended.code == 0;
  if (!is_well && !ended.was_stopped) {
    say(fmt::format("worker {} on {} has failed: {}", ended.rank, agents_[host].name, text_of(ended)));
    last_failure_code_ = ended.signal != 0 ? kSignalCodeBase + ended.signal : ended.code;
  }
  take(policy_.worker_ended(ended.rank, is_well ? Ending::well : Ending::failed, text_of(ended), os::now()));
}

void ElasticRun::hear(HostIndex host, const Samples& samples) {
  for (const Sample& sample : samples.samples) {
    const auto found = workers_.find(sample.rank);
    if (found != workers_.end()) found->second.sample = sample;
  }
  samples_.answered(host);
}

void ElasticRun::hear(HostIndex host, const Note& note) { say(fmt::format("{}: {}", agents_[host].name, note.text)); }

void ElasticRun::beat() {
  crew_.send_all(Beat{});
  for (const HostIndex host : crew_.silent(settings_.silence))
    lose(host, fmt::format("it was silent for {} s", settings_.silence.count()));
  const auto pause = std::max(std::chrono::milliseconds(100), std::chrono::milliseconds(settings_.silence) / 3);
  beat_timer_ = loop_.call_at(Deadline::after(os::now(), pause).at, [this] { beat(); });
  look();
}

void ElasticRun::look_at_reports() {
  const int generation = board_->reported_generation();
  if (phase_ == Phase::running && policy_.is_whole() && generation == policy_.generation()) {
    const std::string what = fmt::format("ranks of world {} cannot work together any more", generation);
    say(what);
    take(policy_.failure_reported(generation, what, os::now()));
  }
  report_timer_ = loop_.call_at(Deadline::after(os::now(), kReportLook).at, [this] { look_at_reports(); });
}

void ElasticRun::end_job(int code, const std::string& why, std::chrono::milliseconds grace) {
  if (phase_ != Phase::running) return;
  phase_ = Phase::stopping;
  code_ = code;
  if (!why.empty()) {
    say(why);
    board_->close(why);
  }
  // It may be calling right now.
  loop_.call_later([gone = std::shared_ptr<HostDiscovery>(std::move(discovery_))] {});
  loop_.cancel(wake_timer_);
  loop_.cancel(timeout_timer_);
  if (!workers_.empty()) crew_.send_all(Stop{.grace_ms = static_cast<std::uint32_t>(grace.count())});
  end_timer_ = loop_.call_at(Deadline::after(os::now(), grace + kAnswerTime).at, [this] {
    end_timer_ = {};
    workers_.clear();  // of hosts that do not answer
    look();
  });
  loop_.call_later([this] { look(); });
}

void ElasticRun::look() {
  const auto is_on_its_way = [](const auto& entry) { return entry.second.has_begun; };
  if (phase_ == Phase::stopping && std::ranges::none_of(workers_, is_on_its_way)) close();
  if (phase_ == Phase::closing && crew_.is_empty()) finish();
}

void ElasticRun::close() {
  phase_ = Phase::closing;
  crew_.finish();
  crew_.kill_unanswered_links(SIGTERM);
  loop_.cancel(end_timer_);
  end_timer_ = loop_.call_at(Deadline::after(os::now(), kAnswerTime).at, [this] {
    end_timer_ = {};
    for (const HostIndex host : crew_.unanswered())
      say(fmt::format("no answer to the end of the job from {}", agents_[host].name));
    finish();
  });
}

void ElasticRun::finish() {
  phase_ = Phase::over;
  for (os::EventLoop::Timer* timer : {&wake_timer_, &beat_timer_, &report_timer_, &end_timer_, &timeout_timer_})
    loop_.cancel(*timer);
}

void ElasticRun::take_signal(int signal) {
  if (signal == SIGTSTP) return say("an elastic job cannot be halted: its hosts would be lost");
  if (signal == SIGCONT) return crew_.forgive();
  if (phase_ == Phase::running) return end_job(kSignalCodeBase + signal, "interrupted", settings_.grace);
  if (phase_ == Phase::stopping && !std::exchange(is_killing_, true)) return crew_.send_all(Stop{.grace_ms = 0});
  finish();  // agents and their guards end their workers by themselves
}

JobStatus ElasticRun::status() const {
  JobStatus status{.name = settings_.job,
                   .command = settings_.command,
                   .folder = settings_.folder,
                   .pid = static_cast<std::int32_t>(::getpid()),
                   .started = started_,
                   .state = phase_ == Phase::running ? JobState::running : JobState::stopping};
  for (const auto& [id, worker] : workers_) {
    status.ranks.push_back({.rank = id,
                            .host = worker.start.host,
                            .pid = worker.pid,
                            .state = worker.pid == 0 ? RankState::starting : RankState::running,
                            .sample = worker.sample});
  }
  return status;
}

void ElasticRun::stop() {
  loop_.call_later([this] { take_signal(SIGTERM); });
}

void ElasticRun::kill() {
  loop_.call_later([this] { end_job(kSignalCodeBase + SIGTERM, "killed", std::chrono::milliseconds(0)); });
}

Status ElasticRun::signal(int signal, Rank worker) {
  if (worker == kNoRank) {
    crew_.send_all(Signal{.rank = kNoRank, .signal = signal});
    return {};
  }
  const auto found = workers_.find(worker);
  if (found == workers_.end() || !found->second.has_begun)
    return invalid_argument(fmt::format("worker {} does not run; 'tutti ps' shows those that do", worker));
  crew_.send(found->second.host, Signal{.rank = worker, .signal = signal});
  return {};
}

void ElasticRun::ask_samples(std::function<void()> done) {
  samples_.join(std::move(done));
  if (samples_.is_open()) return;
  std::set<HostIndex> hosts;
  for (const auto& [name, host] : agents_by_name_) {
    if (agents_[host].hello) hosts.insert(host);
  }
  for (const HostIndex host : hosts) crew_.send(host, AskSamples{});
  samples_.open(std::move(hosts));
}

}  // namespace tutti::launch

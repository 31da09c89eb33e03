#include "launch/job_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/knobs.h"
#include "launch/world.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/machine.h"

namespace tutti::launch {

namespace {

// How long a host may take beyond the grace until it counts as one that does not answer.
constexpr std::chrono::seconds kAnswerTime(10);

std::vector<std::string> names_of(const Layout& layout) {
  std::vector<std::string> names;
  for (const Host& host : layout.hosts) names.push_back(host.name);
  return names;
}

Result<std::unique_ptr<bootstrap::MeetingPoint>> open_meeting_point() {
  TUTTI_ASSIGN(const Knobs knobs, Knobs::read(os::environment_variable));
  return bootstrap::MeetingPoint::open(knobs);
}

}  // namespace

JobRun::JobRun(os::EventLoop& loop, const Settings& settings)
    : loop_(loop),
      settings_(settings),
      roll_(settings, os::now()),
      crew_(loop, names_of(settings.layout), settings.agent, *this),
      muster_(loop, settings, crew_,
              {.say = [this](const std::string& sentence) { say(sentence); },
               .done = [this](const Status& status) { mustered(status); },
               .step_ended = [this] { look(); }}),
      feed_(loop, crew_, settings.input, STDIN_FILENO),
      samples_(loop),
      layout_(settings.layout) {}

JobRun::~JobRun() {
  for (os::EventLoop::Timer* timer : {&beat_timer_, &answer_timer_, &timeout_timer_, &halt_timer_})
    loop_.cancel(*timer);
}

Result<int> JobRun::run() {
  TUTTI_ASSIGN(printer_,
               Printer::create(loop_, settings_.output, settings_.layout.size(), [this] { crew_.set_reading(true); }));
  roll_.begin(layout_);
  muster_.begin();
  loop_.run_until([&] { return phase_ == Phase::over; }, Deadline::never());
  meeting_.reset();
  if (verdict_) report();
  // As long as the reader of the output takes, unless the user has no patience.
  const int signals = late_signals_;
  loop_.run_until([&] { return printer_->is_written() || !printer_->failure() || late_signals_ > signals; },
                  Deadline::never());
  if (!failure_) return failure_;
  if (early_signal_) return kSignalCodeBase + *early_signal_;
  return verdict_->exit_code();
}

void JobRun::mustered(const Status& status) {
  if (phase_ != Phase::mustering) return;
  failure_ = status;
  if (failure_) failure_ = form_world(settings_.layout, 0);
  if (!failure_) return close();
  if (settings_.verbosity > 0) {
    say(fmt::format("all {} hosts have answered after {:.3f} s", crew_.host_count(),
                    static_cast<double>(os::now().ns - roll_.status().started.ns) / 1e9));
  }
  beat();
  if (!settings_.timeout) return;
  timeout_timer_ = loop_.call_at(Deadline::after(os::now(), *settings_.timeout).at, [this] {
    timeout_timer_ = {};
    is_end_wanted_ = true;
    if (phase_ == Phase::running) judge(verdict_->timed_out(*settings_.timeout, os::now()));
    look();
  });
}

Status JobRun::form_world(const Layout& layout, int generation) {
  layout_ = layout;
  WorldFacts facts{.job = settings_.job,
                   .store = "",
                   .hosts = {},
                   .generation = generation,
                   .restart = restart_,
                   .restarts_max = settings_.restarts};
  meeting_.reset();
  if (layout_.size() > 1) {
    TUTTI_ASSIGN(meeting_, open_meeting_point());
    facts.store = "tcp:" + meeting_->identifier().text();
  }
  const auto addresses = addresses_of(settings_, layout_, os::this_machine().host);
  for (HostIndex host = 0; host < layout_.hosts.size(); ++host)
    facts.hosts.push_back({.address = addresses[host], .ports = muster_.hello_of(host).ports});
  verdict_.emplace(layout_, settings_.grace);
  verdict_->begin(os::now());
  roll_.begin(layout_);
  roll_.set_state(JobState::running);
  gone_.clear();
  phase_ = Phase::running;
  auto orders = orders_of(settings_, layout_, facts);
  for (HostIndex host = 0; host < orders.size(); ++host) crew_.send(host, Begin{.order = std::move(orders[host])});
  feed_.begin(layout_);
  return {};
}

void JobRun::report() {
  const auto culprit = verdict_->culprit();
  const bool is_rank = culprit && culprit->rank != kNoRank;
  const auto lines = is_rank ? printer_->last_lines(culprit->rank) : std::vector<std::string>();
  for (const std::string& line : verdict_->report(lines)) printer_->say(line);
}

void JobRun::judge(Measure measure) {
  if (!verdict_->sentence().empty()) printer_->say(verdict_->sentence());
  apply(measure);
}

void JobRun::apply(Measure measure) {
  if (measure == Measure::none) return;
  roll_.set_state(JobState::stopping);
  const auto grace = measure == Measure::stop ? settings_.grace : std::chrono::milliseconds(0);
  crew_.send_all(Stop{.grace_ms = static_cast<std::uint32_t>(grace.count())});
  await_answers(grace);
}

void JobRun::await_answers(std::chrono::milliseconds grace) {
  loop_.cancel(answer_timer_);
  answer_timer_ = loop_.call_at(Deadline::after(os::now(), grace + kAnswerTime).at, [this, grace] {
    answer_timer_ = {};
    if (printer_->is_full()) return await_answers(grace);  // answers wait behind output that nobody takes
    give_up_waiting();
  });
}

void JobRun::give_up_waiting() {
  if (phase_ == Phase::closing) {
    std::vector<std::string> names;
    for (const HostIndex host : crew_.unanswered()) names.push_back(name_of_host(host));
    if (!names.empty()) say(fmt::format("no answer to the end of the job from {}", names_text(names)));
    return finish();
  }
  std::set<HostIndex> late;
  for (const Seat& seat : layout_.seats) {
    if (roll_.is_running(seat.rank)) late.insert(seat.host);
  }
  if (phase_ == Phase::clearing) {
    for (const HostIndex host : crew_.unanswered()) {
      if (!gone_.contains(host)) late.insert(host);
    }
  }
  const std::vector<HostIndex> hosts(late.begin(), late.end());
  crew_.forget(hosts);
  lose(hosts, "it did not answer to the order to end its ranks");
  look();
}

void JobRun::lose(const std::vector<HostIndex>& hosts, const std::string& why) {
  for (const HostIndex host : hosts) {
    if (!lost_.insert(host).second || !verdict_) continue;
    roll_.lost(layout_, host);
    samples_.answered(host);
    for (const Seat& seat : layout_.seats) {
      if (seat.host == host) feed_.left(seat.rank);
    }
    if (phase_ == Phase::running) judge(verdict_->host_lost(host, why, os::now()));
  }
}

void JobRun::look() {
  const auto is_gone = [&](HostIndex host) { return gone_.contains(host); };
  if (phase_ == Phase::running && verdict_->is_over()) return end_world();
  if (phase_ == Phase::clearing && (!may_restart() || std::ranges::all_of(crew_.unanswered(), is_gone)))
    return restart();
  const bool has_step = muster_.step() != nullptr && !muster_.step()->has_ended();
  if (phase_ == Phase::closing && crew_.is_empty() && !has_step) finish();
}

void JobRun::end_world() { may_restart() ? clear() : close(); }

bool JobRun::may_restart() const {
  return restart_ < settings_.restarts && !is_end_wanted_ && lost_.empty() && verdict_->exit_code() != 0;
}

void JobRun::clear() {
  phase_ = Phase::clearing;
  gone_.clear();
  crew_.send_all(Stop{.grace_ms = static_cast<std::uint32_t>(settings_.grace.count())});
  await_answers(settings_.grace);
}

void JobRun::restart() {
  loop_.cancel(answer_timer_);
  if (!may_restart()) return close();
  report();
  ++restart_;
  say(fmt::format("the job starts again ({} of {} restarts)", restart_, settings_.restarts));
  if (const Status status = form_world(settings_.layout, 0); !status) {
    say(std::string(status.text()));
    close();
  }
}

void JobRun::close() {
  const bool has_world = verdict_.has_value();
  phase_ = Phase::closing;
  roll_.set_state(JobState::stopping);
  loop_.cancel(timeout_timer_);
  crew_.finish();
  if (!has_world) crew_.kill_unanswered_links(SIGTERM);
  muster_.close(has_world);
  await_answers(settings_.grace);
  look();
}

void JobRun::finish() {
  if (phase_ == Phase::over) return;
  phase_ = Phase::over;
  for (os::EventLoop::Timer* timer : {&beat_timer_, &answer_timer_, &timeout_timer_, &halt_timer_})
    loop_.cancel(*timer);
}

}  // namespace tutti::launch

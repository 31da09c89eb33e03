#include "launch/start/muster.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "launch/start/commands.h"
#include "launch/world.h"
#include "os/clock.h"
#include "os/machine.h"
#include "tutti/version.h"

namespace tutti::launch {

namespace {

constexpr std::chrono::seconds kFirstProgress(2);  // what is faster needs no comment
constexpr std::chrono::seconds kNextProgress(10);

}  // namespace

Muster::Muster(os::EventLoop& loop, const Settings& settings, Crew& crew, Listener listener)
    : loop_(loop),
      settings_(settings),
      crew_(crew),
      listener_(std::move(listener)),
      hellos_(settings.layout.hosts.size()),
      was_tried_again_(settings.layout.hosts.size(), false) {}

Muster::~Muster() {
  loop_.cancel(progress_timer_);
  loop_.cancel(deadline_timer_);
}

void Muster::begin() {
  progress_timer_ = loop_.call_at(Deadline::after(os::now(), kFirstProgress).at, [this] { report_progress(); });
  deadline_timer_ = loop_.call_at(Deadline::after(os::now(), settings_.start_timeout).at, [this] {
    deadline_timer_ = {};
    const auto names = missing();
    finish({Code::timed_out,
            fmt::format("no answer from {} of {} hosts within {} s: {}; give them more time with "
                        "--start-timeout, or see why with 'tutti check -H'",
                        names.size(), hellos_.size(), settings_.start_timeout.count(), names_text(names))});
  });
  if (const Status status = start(); !status) finish(status);
}

Status Muster::start() {
  if (settings_.starter == Starter::slurm) return start_step();
  Ways ways = ways_of(settings_, os::this_machine().host);
  for (const HostIndex host : ways.here) TUTTI_TRY(start_here(host));
  boughs_ = std::move(ways.over_ssh);
  for (const Bough& bough : boughs_) TUTTI_TRY(start_bough(bough));
  return {};
}

Status Muster::start_here(HostIndex host) {
  TUTTI_ASSIGN(auto link, start_link(loop_, Way::local, local_command(settings_, host, own_program())));
  crew_.add(std::move(link), {host});
  return {};
}

std::vector<std::string> Muster::words_for(HostIndex host) const { return ssh_command(settings_, host); }

Branch Muster::branch_of(const Bough& bough) const {
  Branch branch{.host = bough.host,
                .name = settings_.layout.hosts[bough.host].name,
                .words = words_for(bough.host),
                .branches = {}};
  for (const Bough& below : bough.boughs) branch.branches.push_back(branch_of(below));
  return branch;
}

Status Muster::start_bough(const Bough& bough) {
  TUTTI_ASSIGN(auto link, start_link(loop_, Way::ssh, words_for(bough.host)));
  crew_.add(std::move(link), hosts_of(bough));
  if (bough.boughs.empty()) return {};
  crew_.send(bough.host, Grow{.branches = branch_of(bough).branches});
  return {};
}

Status Muster::start_step() {
  TUTTI_ASSIGN(step_, SlurmStep::start(loop_, settings_, step_agent_command(settings_),
                                       {.arrived =
                                            [this](HostIndex host, Link link) {
                                              if (!crew_.is_reached(host) && !is_done_)
                                                crew_.add(std::move(link), {host});
                                            },
                                        .ended =
                                            [this](const std::string& why) {
                                              finish({Code::network, why});
                                              listener_.step_ended();
                                            }}));
  return {};
}

void Muster::hello(HostIndex host, const Hello& hello) {
  if (is_done_) return;
  if (hello.version != TUTTI_VERSION) {
    return finish({Code::unsupported,
                   fmt::format("{} has version {} of Tutti at {}, and this machine has version {}; install the same on "
                               "all hosts, or give --agent-path",
                               settings_.layout.hosts[host].name, hello.version, settings_.agent, TUTTI_VERSION)});
  }
  hellos_[host] = hello;
  if (std::ranges::all_of(hellos_, [](const auto& each) { return each.has_value(); })) finish({});
}

void Muster::lost(HostIndex, const std::vector<HostIndex>&, const std::string& why) {
  if (!is_done_) finish({Code::network, why});
}

void Muster::lost_below(HostIndex host, const std::string& why) {
  const Bough* const bough = find_bough(boughs_, host);
  if (is_done_ || bough == nullptr) return;
  if (was_tried_again_[host]) return finish({Code::network, why});
  was_tried_again_[host] = true;
  if (!std::exchange(has_told_of_trying_, true)) {
    listener_.say(fmt::format("a host could not be started by another one ({}); this machine tries by itself", why));
  }
  const auto hosts = hosts_of(*bough);
  crew_.forget(hosts);
  for (const HostIndex each : hosts) hellos_[each].reset();
  if (const Status status = start_bough(*bough); !status) finish(status);
}

std::vector<HostIndex> Muster::below(HostIndex host) const {
  const Bough* const bough = find_bough(boughs_, host);
  return bough == nullptr ? std::vector{host} : hosts_of(*bough);
}

std::vector<std::string> Muster::missing() const {
  std::vector<std::string> names;
  for (HostIndex host = 0; host < hellos_.size(); ++host) {
    if (!hellos_[host]) names.push_back(settings_.layout.hosts[host].name);
  }
  return names;
}

void Muster::report_progress() {
  progress_timer_ = loop_.call_at(Deadline::after(os::now(), kNextProgress).at, [this] { report_progress(); });
  listener_.say(waiting_text(hellos_.size(), missing()));
}

void Muster::cancel() {
  is_done_ = true;
  loop_.cancel(progress_timer_);
  loop_.cancel(deadline_timer_);
}

void Muster::close(bool is_complete) {
  cancel();
  if (step_ && !is_complete) step_->cancel();
}

void Muster::finish(const Status& status) {
  if (is_done_) return;
  cancel();
  // From the loop: whoever is told takes the crew apart, which may be calling right now.
  loop_.call_later([done = listener_.done, status] { done(status); });
}

}  // namespace tutti::launch

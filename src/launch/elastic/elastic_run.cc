#include "launch/elastic/elastic_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>

#include "launch/start/agent_words.h"
#include "launch/start/link.h"
#include "launch/start/ssh_words.h"
#include "launch/verdict.h"
#include "launch/world.h"
#include "os/clock.h"
#include "os/machine.h"

namespace tutti::launch {
namespace {

constexpr Rank kLabelsMax = 1024;  // where the user has set no most
constexpr int kTriesInTime = 3;    // ssh gives up soon enough for a host to be tried again before the deadline

Rank label_count(const Settings& settings) {
  return settings.elastic.ranks_max > 0 ? settings.elastic.ranks_max : kLabelsMax;
}

}  // namespace

PolicySettings policy_settings_of(const Settings& settings) {
  const ElasticSettings& elastic = settings.elastic;
  PolicySettings policy;
  policy.ranks_min = elastic.ranks_min;
  policy.ranks_max = elastic.ranks_max > 0 ? elastic.ranks_max : static_cast<Rank>(bootstrap::kWorldMembersMax);
  if (settings.restarts > 0) policy.resets_max = settings.restarts;
  policy.hosts_may_come = !elastic.discovery_script.empty();
  policy.wait = elastic.wait;
  policy.cooldown = {.min = elastic.cooldown_min, .max = elastic.cooldown_max};
  policy.start_timeout = settings.start_timeout;
  return policy;
}

ElasticRun::ElasticRun(os::EventLoop& loop, const Settings& settings)
    : loop_(loop),
      settings_(settings),
      started_(os::now()),
      policy_(policy_settings_of(settings), started_.ns, started_),
      crew_(loop, {}, settings.agent, *this),
      samples_(loop) {}

ElasticRun::~ElasticRun() {
  for (os::EventLoop::Timer* timer : {&wake_timer_, &beat_timer_, &report_timer_, &end_timer_, &timeout_timer_})
    loop_.cancel(*timer);
  for (auto& [id, worker] : workers_) loop_.cancel(worker.kill_timer);
}

Result<int> ElasticRun::run() {
  if (settings_.starter == Starter::slurm) {
    return Status(
        Code::unsupported,
        "an elastic job cannot be one step of Slurm, which starts and ends as a whole; use --launcher ssh, or "
        "leave --min-np away");
  }
  TUTTI_ASSIGN(printer_,
               Printer::create(loop_, settings_.output, label_count(settings_), [this] { crew_.set_reading(true); }));
  TUTTI_ASSIGN(board_, WorldBoard::open());
  if (settings_.elastic.discovery_script.empty()) {
    find_hosts(settings_.elastic.hosts);
  } else {
    discovery_ = std::make_unique<HostDiscovery>(
        loop_,
        HostDiscovery::Settings{.script = settings_.elastic.discovery_script,
                                .slots_per_host = settings_.elastic.slots_per_host},
        HostDiscovery::Listener{.found = [this](const std::vector<Host>& hosts) { find_hosts(hosts); },
                                .say = [this](const std::string& sentence) { say(sentence); }});
    discovery_->begin();
    take(policy_.pass(os::now()));
  }
  beat();
  look_at_reports();
  if (settings_.timeout) {
    timeout_timer_ = loop_.call_at(Deadline::after(os::now(), *settings_.timeout).at, [this] {
      timeout_timer_ = {};
      const std::string why = fmt::format("the job has run for {} s (--timeout)", settings_.timeout->count());
      end_job(kTimeoutCode, why, settings_.grace);
    });
  }
  loop_.run_until([&] { return phase_ == Phase::over; }, Deadline::never());
  loop_.run_until([&] { return printer_->is_written() || !printer_->failure(); }, Deadline::never());
  return code_;
}

void ElasticRun::find_hosts(const std::vector<Host>& hosts) {
  hosts_ = hosts;
  has_found_hosts_ = true;
  take(policy_.hosts_found(hosts_, os::now()));
}

void ElasticRun::take(const Actions& actions) {
  loop_.cancel(wake_timer_);
  for (const Action& action : actions) std::visit([this](const auto& wanted) { carry_out(wanted); }, action);
  tell_of_waiting();
}

void ElasticRun::carry_out(const WaitUntil& wait) {
  wake_timer_ = loop_.call_at(wait.at, [this] {
    wake_timer_ = {};
    if (phase_ == Phase::running) take(policy_.pass(os::now()));
  });
}

void ElasticRun::tell_of_waiting() {
  if (!has_found_hosts_) return;  // a script that fails is told of as such
  const std::string sentence = policy_.waits_for(os::now());
  if (!sentence.empty() && !has_told_of_waiting_) say("waiting for hosts: " + sentence);
  has_told_of_waiting_ = !sentence.empty();
}

void ElasticRun::carry_out(const StartWorker& start) {
  const HostIndex host = agent_on(start.host);
  Worker& worker = workers_[start.worker];
  worker = {.start = start, .host = host, .label = free_label()};
  if (agents_[host].hello) begin_worker(worker);
}

// The lowest that nobody uses, so that a replacement continues where the one before has ended.
Rank ElasticRun::free_label() const {
  std::set<Rank> used;
  for (const auto& [id, worker] : workers_) used.insert(worker.label);
  Rank label = 0;
  while (used.contains(label)) ++label;
  return label % label_count(settings_);
}

HostIndex ElasticRun::agent_on(const std::string& name) {
  const auto found = agents_by_name_.find(name);
  if (found != agents_by_name_.end()) return found->second;
  const HostIndex host = crew_.add_host(name);
  agents_.push_back({.name = name});
  agents_by_name_[name] = host;
  if (const Status status = start_agent(host); !status) {
    // Later: whoever asks for it is in the middle of what the policy wants.
    loop_.call_later([this, host, why = std::string(status.text())] { lose(host, why); });
  }
  return host;
}

Status ElasticRun::start_agent(HostIndex host) {
  const std::string& name = agents_[host].name;
  const bool is_here = settings_.starter == Starter::local || is_this_machine(name, os::this_machine().host);
  AgentCall call{.path = is_here ? own_program() : settings_.agent,
                 .host = host,
                 .ports = slots_of(name) + 1,
                 .silence = settings_.silence};
  const auto words = is_here
                         ? agent_words(call)
                         : ssh_words(settings_.ssh, settings_.start_timeout / kTriesInTime, name, agent_words(call));
  TUTTI_ASSIGN(auto link, start_link(loop_, is_here ? Way::local : Way::ssh, words));
  crew_.add(std::move(link), {host});
  return {};
}

void ElasticRun::begin_worker(Worker& worker) {
  worker.has_begun = true;
  const int slots = slots_of(worker.start.host);
  crew_.send(worker.host, Begin{.order = order_of(settings_, planned(), worker.start, slots)});
}

PlannedWorld ElasticRun::planned() const {
  PlannedWorld planned{.store = board_->address()};
  for (const WorldMember& member : world_) {
    if (workers_.contains(member.worker)) planned.members.push_back(member);
  }
  for (const auto& [id, worker] : workers_) {
    if (worker.has_joined) continue;
    planned.members.push_back({.worker = id, .host = worker.start.host, .slot = worker.start.slot});
  }
  for (const auto& [name, host] : agents_by_name_) {
    if (agents_[host].hello) planned.ports[name] = agents_[host].hello->ports;
  }
  return planned;
}

int ElasticRun::slots_of(const std::string& name) const {
  const auto found = std::ranges::find(hosts_, name, &Host::name);
  return found == hosts_.end() ? 1 : found->slots;
}

void ElasticRun::carry_out(const StopWorker& stop) {
  const auto found = workers_.find(stop.worker);
  if (found == workers_.end()) return;
  Worker& worker = found->second;
  if (!worker.has_begun) {
    loop_.call_later([this, id = stop.worker] {
      drop(id);
      if (phase_ == Phase::running) take(policy_.worker_ended(id, Ending::failed, "it was not started", os::now()));
      look();
    });
    return;
  }
  crew_.send(worker.host, Signal{.rank = stop.worker, .signal = SIGTERM});
  loop_.cancel(worker.kill_timer);
  worker.kill_timer = loop_.call_at(Deadline::after(os::now(), settings_.grace).at, [this, id = stop.worker] {
    const auto late = workers_.find(id);
    if (late == workers_.end()) return;
    late->second.kill_timer = {};
    crew_.send(late->second.host, Signal{.rank = id, .signal = SIGKILL});
  });
}

void ElasticRun::carry_out(const PublishWorld& world) {
  world_ = world.members;
  std::set<std::string> hosts;
  for (const WorldMember& member : world_) {
    hosts.insert(member.host);
    if (const auto found = workers_.find(member.worker); found != workers_.end()) found->second.has_joined = true;
  }
  if (world.generation > 0 || settings_.verbosity > 0) {
    say(fmt::format("world {}: {} rank{} on {} host{}", world.generation, world_.size(), world_.size() == 1 ? "" : "s",
                    hosts.size(), hosts.size() == 1 ? "" : "s"));
  }
  if (const Status status = board_->publish(world); !status) {
    loop_.call_later([this, why = std::string(status.text())] { end_job(1, why, settings_.grace); });
  }
}

void ElasticRun::carry_out(const Finish&) { end_job(0, "", settings_.grace); }

void ElasticRun::carry_out(const GiveUp& up) {
  end_job(last_failure_code_, "the job is given up: " + up.why, settings_.grace);
}

}  // namespace tutti::launch

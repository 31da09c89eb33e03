#include "launch/agent/agent.h"

#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "os/clock.h"
#include "os/cores.h"
#include "os/free_ports.h"
#include "os/nvidia_devices.h"
#include "os/process_tree.h"
#include "tutti/version.h"

namespace tutti::launch {
namespace {

constexpr std::chrono::milliseconds kBeatTime(1000);    // after so long without a word to somebody a Beat goes there
constexpr std::chrono::milliseconds kClockTime(250);    // how often that is looked at
constexpr std::chrono::milliseconds kCutGrace(2000);    // for ranks whose launcher is gone
constexpr std::chrono::milliseconds kBranchTime(8000);  // for agents below to end, beyond the grace of the ranks

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::int64_t wall_clock_us() {
  timeval time{};
  ::gettimeofday(&time, nullptr);
  return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec;
}

bool is_meant_to_end(int signal) {
  return signal == SIGTERM || signal == SIGKILL || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

}  // namespace

Agent::Agent(os::EventLoop& loop, std::unique_ptr<Duct> duct, Greets greets, AgentSettings settings)
    : loop_(loop),
      settings_(std::move(settings)),
      host_{.own = os::whole_environment(),
            .usable_cores = os::usable_core_count(),
            .gpu_count = os::count_nvidia_devices()},
      up_(loop, std::move(duct), greets, *this),
      branches_(loop, *this),
      ending_(loop, job()),
      heard_at_(os::now()),
      sent_at_(heard_at_) {}

Agent::~Agent() {
  loop_.cancel(clock_timer_);
  loop_.cancel(leave_timer_);
}

Status Agent::start() {
  TUTTI_ASSIGN(auto ports, os::find_free_ports(settings_.port_count));
  send(Hello{.version = TUTTI_VERSION,
             .host_name = host_name(),
             .ports = std::move(ports),
             .cores = static_cast<std::uint32_t>(host_.usable_cores),
             .pid = ::getpid(),
             .clock_us = wall_clock_us()});
  up_.start();
  watch_clock();
  return {};
}

void Agent::send(const Message& message) { send_bytes(encode({.host = settings_.host, .message = message})); }

void Agent::send_bytes(Bytes encoded) {
  sent_at_ = os::now();
  up_.send(std::move(encoded));
  if (up_.is_full() && !has_up_ended_) set_reading(false);
}

void Agent::set_reading(bool is_reading) {
  if (is_reading_ == is_reading) return;
  is_reading_ = is_reading;
  branches_.set_reading(is_reading);
  for (auto& [rank, member] : ranks_) member.process->set_reading(is_reading);
}

void Agent::drained(Channel&) { set_reading(true); }

void Agent::take(Channel&, std::span<const std::byte> envelope) {
  heard_at_ = os::now();
  const auto host = host_of(envelope);
  if (host && *host != settings_.host) return branches_.send(*host, envelope);
  const auto parsed = parse_envelope(envelope);
  // A launcher of another version: it does not know what becomes of its words.
  if (!parsed) return leave(kCutGrace, std::string(parsed.status().text()));
  std::visit([this](const auto& message) { hear(message); }, parsed->message);
}

void Agent::end(Channel&, const Status& why) {
  has_up_ended_ = true;
  set_reading(true);  // nobody takes it any more, and no rank may be kept from ending by that
  leave(kCutGrace, std::string(why.text()));
}

void Agent::leave(std::chrono::milliseconds grace, const std::string& why) {
  if (!is_leaving_ && !has_up_ended_) send(Note{fmt::format("the agent on {} ends: {}", host_name(), why)});
  if (!is_leaving_) {
    is_leaving_ = true;
    branches_.finish();
    leave_timer_ = loop_.call_at(Deadline::after(os::now(), grace + kBranchTime).at, [this] {
      leave_timer_ = {};
      branches_.kill();
    });
  }
  ending_.begin(grace);
}

void Agent::all_gone() {
  send(Gone{});
  if (!is_leaving_) return;
  is_gone_ = true;
  settle();
}

void Agent::branch_ended() {
  reap();
  settle();
}

void Agent::settle() {
  if (!is_gone_ || !branches_.is_empty() || is_over_) return;
  is_over_ = true;
  up_.finish();
}

bool Agent::is_over() const { return is_over_ && (has_up_ended_ || up_.queued_bytes() == 0); }

// Beats to all who heard nothing for a while; and the silence of the launcher.
void Agent::watch_clock() {
  const Time now = os::now();
  if (Deadline::after(sent_at_, kBeatTime).has_passed(now)) send(Beat{});
  branches_.beat(now, kBeatTime);
  const bool is_silent = settings_.silence.count() > 0 && Deadline::after(heard_at_, settings_.silence).has_passed(now);
  if (is_silent && !is_halted_ && !is_leaving_) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(settings_.silence).count();
    leave(kCutGrace, fmt::format("it has heard nothing from its launcher for {} s", seconds));
  }
  clock_timer_ = loop_.call_at(Deadline::after(now, kClockTime).at, [this] { watch_clock(); });
}

void Agent::heard_below(std::span<const std::byte> envelope) {
  Bytes bytes;
  bytes.reserve(sizeof(std::uint32_t) + envelope.size());
  append_counted(bytes, envelope);
  send_bytes(std::move(bytes));
}

void Agent::lost_below(HostIndex host, const std::string& why) { send(Lost{.host = host, .text = why}); }

void Agent::rank_wrote(Rank rank, Stream stream, Bytes bytes) {
  send(Output{.rank = rank, .stream = stream, .bytes = std::move(bytes)});
}

void Agent::rank_took(Rank rank, std::uint32_t bytes) { send(Took{.rank = rank, .bytes = bytes}); }

void Agent::rank_ended(Rank rank) {
  const auto found = ranks_.find(rank);
  send(found->second.process->ended());
  // Destroyed later: this is a call of its own.
  loop_.call_later([gone = std::shared_ptr<RankProcess>(std::move(found->second.process))] {});
  ranks_.erase(found);
  ending_.look_again();
  reap();
}

void Agent::reap() {
  os::reap_orphans([known = rank_pids(), spared = branches_.pids()](pid_t pid) {
    return std::ranges::find(known, pid) != known.end() || std::ranges::find(spared, pid) != spared.end();
  });
}

std::vector<pid_t> Agent::rank_pids() const {
  std::vector<pid_t> pids;
  for (const auto& [rank, member] : ranks_) {
    if (!member.process->has_exited()) pids.push_back(member.process->pid());
  }
  return pids;
}

void Agent::signal_all(int signal) {
  for (auto& [rank, member] : ranks_) member.process->signal_group(signal, is_meant_to_end(signal));
}

Ending::Job Agent::job() {
  return {.signal_ranks = [this](int signal) { signal_all(signal); },
          .has_ranks = [this] { return !ranks_.empty(); },
          .ranks = [this] { return rank_pids(); },
          .spared = [this] { return branches_.pids(); },
          .reap = [this] { reap(); },
          .done = [this] { all_gone(); }};
}

void Agent::hear(const Input& input) {
  const auto found = ranks_.find(input.rank);
  if (found != ranks_.end()) return found->second.process->take_input(input);
  rank_took(input.rank, static_cast<std::uint32_t>(input.bytes.size()));
}

void Agent::hear(const Signal& signal) {
  if (signal.rank == kNoRank) {
    if (signal.signal == SIGSTOP) is_halted_ = true;
    if (signal.signal == SIGCONT) is_halted_ = false;
    return signal_all(signal.signal);
  }
  const auto found = ranks_.find(signal.rank);
  if (found != ranks_.end()) found->second.process->signal_group(signal.signal, is_meant_to_end(signal.signal));
}

}  // namespace tutti::launch

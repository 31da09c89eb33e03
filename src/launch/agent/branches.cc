#include "launch/agent/branches.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <unordered_set>

#include "launch/start/explanation.h"
#include "os/clock.h"

namespace tutti::launch {
namespace {

// How long the end of a channel waits for that of its program, and the other way round, to be explained by it.
constexpr std::chrono::milliseconds kSettleTime(1000);

// An agent says something every second. One that says nothing for so long is cut off when its job ends, and so is an
// ssh that would wait for it.
constexpr std::chrono::milliseconds kSilence(3000);

// The largest message that is looked into: those that matter here have hardly more than their kind.
constexpr std::size_t kGoneBytesMax = 16;

void add_hosts(const Branch& branch, std::unordered_set<HostIndex>& hosts) {
  hosts.insert(branch.host);
  for (const Branch& below : branch.branches) add_hosts(below, hosts);
}

bool is_gone(std::span<const std::byte> envelope, HostIndex host) {
  if (envelope.size() > kGoneBytesMax || host_of(envelope) != host) return false;
  const auto parsed = parse_envelope(envelope);
  return parsed && std::holds_alternative<Gone>(parsed->message);
}

Bytes with_length(std::span<const std::byte> envelope) {
  Bytes bytes;
  bytes.reserve(sizeof(std::uint32_t) + envelope.size());
  append_counted(bytes, envelope);
  return bytes;
}

}  // namespace

struct Branches::BranchLink {
  Branch branch;
  std::unordered_set<HostIndex> hosts;  // it and all below it
  std::unique_ptr<Program> program;
  std::unique_ptr<Channel> channel;
  Time sent_at = {};
  Time heard_at = {};
  bool has_answered = false;
  bool is_at_rest = false;  // it has said Gone, and was told nothing since
  std::optional<Status> channel_end = {};
  os::EventLoop::Timer timer = {};

  void send(Bytes encoded) {
    sent_at = os::now();
    channel->send(std::move(encoded));
  }
};

Branches::Branches(os::EventLoop& loop, Listener& listener) : loop_(loop), listener_(listener) {}

Branches::~Branches() {
  for (const auto& link : links_) loop_.cancel(link->timer);
}

void Branches::grow(const std::vector<Branch>& branches) {
  for (const Branch& branch : branches) add(branch);
}

void Branches::add(const Branch& branch) {
  auto started = start_link(loop_, Way::ssh, branch.words);
  if (!started) return listener_.lost_below(branch.host, std::string(started.status().text()));
  links_.push_back(std::make_unique<BranchLink>());
  BranchLink& link = *links_.back();
  link.branch = branch;
  add_hosts(branch, link.hosts);
  link.program = std::move(started->program);
  Owner& owner = *this;  // here, where that is known
  link.channel = std::make_unique<Channel>(loop_, std::move(started->duct), Greets::expects, owner);
  link.sent_at = os::now();
  link.program->on_end([this, &link] { settle(link); });
  link.channel->set_reading(is_reading_);
  link.channel->start();
  if (is_finishing_) link.channel->finish();
}

Branches::BranchLink& Branches::link_of(const Channel& channel) {
  return **std::ranges::find_if(links_, [&](const auto& link) { return link->channel.get() == &channel; });
}

void Branches::send(HostIndex host, std::span<const std::byte> envelope) {
  for (const auto& link : links_) {
    if (!link->hosts.contains(host)) continue;
    link->is_at_rest = false;
    return link->send(with_length(envelope));
  }
}

void Branches::beat(Time now, std::chrono::nanoseconds quiet) {
  for (const auto& link : links_) {
    // Only to those who listen: what ssh has not yet asked for would wait in its pipe.
    if (link->has_answered && Deadline::after(link->sent_at, quiet).has_passed(now))
      link->send(encode({.host = link->branch.host, .message = Beat{}}));
  }
}

void Branches::set_reading(bool is_reading) {
  is_reading_ = is_reading;
  for (const auto& link : links_) link->channel->set_reading(is_reading);
}

void Branches::finish() {
  is_finishing_ = true;
  const Time now = os::now();
  for (const auto& link : links_) {
    link->channel->finish();
    const bool is_silent = Deadline::after(link->heard_at, kSilence).has_passed(now);
    if (!link->has_answered || is_silent)
      link->program->signal(SIGTERM);  // ssh that still connects, or has nobody left
  }
}

void Branches::kill() {
  for (const auto& link : links_) link->program->signal(SIGKILL);
}

std::vector<pid_t> Branches::pids() const {
  std::vector<pid_t> pids;
  for (const auto& link : links_) pids.push_back(link->program->pid());
  return pids;
}

void Branches::take(Channel& channel, std::span<const std::byte> envelope) {
  BranchLink& link = link_of(channel);
  link.heard_at = os::now();
  if (!link.has_answered) {
    link.has_answered = true;
    if (!link.branch.branches.empty())
      link.send(encode({.host = link.branch.host, .message = Grow{link.branch.branches}}));
  }
  link.is_at_rest = link.is_at_rest || is_gone(envelope, link.branch.host);
  listener_.heard_below(envelope);
}

void Branches::end(Channel& channel, const Status& why) {
  BranchLink& link = link_of(channel);
  link.channel_end = why;
  settle(link);
}

void Branches::settle(BranchLink& link) {
  if (link.channel_end && link.program->end()) return remove(link);
  if (link.timer.is_set()) return;
  link.timer = loop_.call_at(Deadline::after(os::now(), kSettleTime).at, [this, &link] {
    link.timer = {};
    remove(link);
  });
}

void Branches::remove(BranchLink& link) {
  loop_.cancel(link.timer);
  link.program->on_end({});
  // Destroyed later: this may be a call of its channel or its program.
  const auto place = std::ranges::find_if(links_, [&](const auto& other) { return other.get() == &link; });
  loop_.call_later([gone = std::shared_ptr<BranchLink>(std::move(*place))] {});
  links_.erase(place);
  if (!is_finishing_ && !link.is_at_rest) {
    const Parting parting{.way = Way::ssh,
                          .host = link.branch.name,
                          .agent_path = "its place",
                          .has_answered = link.has_answered,
                          .stream = std::string(link.channel_end ? link.channel_end->text() : "it closed nothing"),
                          .noise = link.channel->noise(),
                          .complaints = link.program->complaints(),
                          .end = link.program->end()};
    listener_.lost_below(link.branch.host, explanation_of(parting));
  }
  listener_.branch_ended();
}

}  // namespace tutti::launch

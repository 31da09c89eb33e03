#include "launch/crew.h"

#include <fmt/format.h>

#include <algorithm>

#include "os/clock.h"

namespace tutti::launch {

namespace {

// How long the two ends of a line, that of its channel and that of its program, wait for each other.
constexpr std::chrono::seconds kSettleTime(2);

}  // namespace

struct Crew::Line {
  std::unique_ptr<Channel> channel;
  std::unique_ptr<Program> program;
  Way way = Way::local;
  HostIndex root = 0;
  bool has_answered = false;
  bool has_ended = false;  // the channel
  bool is_settled = false;
  std::string why;
  os::EventLoop::Timer timer = {};
};

Crew::Crew(os::EventLoop& loop, std::vector<std::string> names, std::string agent_path, Listener& listener)
    : loop_(loop),
      names_(std::move(names)),
      agent_path_(std::move(agent_path)),
      listener_(listener),
      lines_of_hosts_(names_.size(), nullptr),
      heard_at_(names_.size()) {}

Crew::~Crew() {
  for (const auto& line : lines_) loop_.cancel(line->timer);
}

HostIndex Crew::add_host(std::string name) {
  names_.push_back(std::move(name));
  lines_of_hosts_.push_back(nullptr);
  heard_at_.emplace_back();
  return static_cast<HostIndex>(names_.size() - 1);
}

void Crew::add(Link link, const std::vector<HostIndex>& hosts) {
  auto line = std::make_unique<Line>();
  Line* const raw = line.get();
  raw->program = std::move(link.program);
  raw->way = link.way;
  raw->root = hosts.front();
  Owner& owner = *this;  // here, where that is known
  raw->channel = std::make_unique<Channel>(loop_, std::move(link.duct), link.greets, owner);
  if (raw->program) raw->program->on_end([this, raw] { program_ended(*raw); });
  lines_.push_back(std::move(line));
  for (const HostIndex host : hosts) {
    lines_of_hosts_[host] = raw;
    heard_at_[host] = os::now();
  }
  raw->channel->set_reading(is_reading_);
  raw->channel->start();
}

void Crew::forget(const std::vector<HostIndex>& hosts) {
  for (const HostIndex host : hosts) lines_of_hosts_[host] = nullptr;
  // A line that leads to nobody is cut, so that whoever is still there notices.
  for (const auto& line : lines_) {
    if (std::ranges::find(lines_of_hosts_, line.get()) == lines_of_hosts_.end()) settle(*line);
  }
}

void Crew::send(HostIndex host, const Message& message) {
  if (Line* const line = lines_of_hosts_[host]; line != nullptr && !line->has_ended)
    line->channel->send(encode({.host = host, .message = message}));
}

void Crew::send_all(const Message& message) {
  for (HostIndex host = 0; host < host_count(); ++host) send(host, message);
}

bool Crew::has_queued() const {
  return std::ranges::any_of(lines_,
                             [](const auto& line) { return !line->has_ended && line->channel->queued_bytes() > 0; });
}

void Crew::set_reading(bool is_reading) {
  if (is_reading_ == is_reading) return;
  is_reading_ = is_reading;
  if (is_reading) forgive();
  for (const auto& line : lines_) {
    if (!line->has_ended) line->channel->set_reading(is_reading);
  }
}

std::vector<HostIndex> Crew::silent(std::chrono::nanoseconds limit) const {
  std::vector<HostIndex> hosts;
  const Time now = os::now();
  for (HostIndex host = 0; is_reading_ && host < host_count(); ++host) {
    const Line* const line = lines_of_hosts_[host];
    if (line == nullptr || line->way == Way::local) continue;
    if (Deadline::after(heard_at_[host], limit).has_passed(now)) hosts.push_back(host);
  }
  return hosts;
}

void Crew::forgive() { std::ranges::fill(heard_at_, os::now()); }

void Crew::take(Channel& channel, std::span<const std::byte> bytes) {
  Line& line = line_of(channel);
  line.has_answered = true;
  auto envelope = parse_envelope(bytes);
  if (!envelope || envelope->host >= host_count()) {
    // The agent's fault or that of its version, which its Hello has told.
    line.why = envelope ? fmt::format("it speaks for host {}, which the job does not have", envelope->host)
                        : std::string(envelope.status().text());
    channel.finish();
    return;
  }
  const HostIndex host = envelope->host;
  if (lines_of_hosts_[host] != &line) return;  // forgotten, or another's
  heard_at_[host] = os::now();
  listener_.heard(host, std::move(envelope->message));
}

void Crew::end(Channel& channel, const Status& why) {
  Line& line = line_of(channel);
  line.has_ended = true;
  if (line.why.empty()) line.why = why.text();
  if (!line.program || line.program->end()) return settle(line);
  settle_later(line);
}

// While nobody reads, the end of the channel is not seen, nor what came before it.
void Crew::settle_later(Line& line) {
  loop_.cancel(line.timer);
  line.timer = loop_.call_at(Deadline::after(os::now(), kSettleTime).at, [this, &line] {
    line.timer = {};
    if (line.has_ended || is_reading_) return settle(line);
    settle_later(line);
  });
}

void Crew::program_ended(Line& line) {
  if (line.is_settled) return;
  if (line.has_ended) return settle(line);
  // What the agent has sent last is still to be read. Something that ssh has left behind may keep the channel open.
  settle_later(line);
}

void Crew::settle(Line& line) {
  if (line.is_settled) return;
  line.is_settled = true;
  line.has_ended = true;
  loop_.cancel(line.timer);
  std::vector<HostIndex> hosts;
  for (HostIndex host = 0; host < host_count(); ++host) {
    if (lines_of_hosts_[host] == &line) hosts.push_back(host);
  }
  for (const HostIndex host : hosts) lines_of_hosts_[host] = nullptr;
  Parting parting{.way = line.way,
                  .host = names_[line.root],
                  .agent_path = agent_path_,
                  .has_answered = line.has_answered,
                  .stream = line.why,
                  .noise = line.channel->has_greeted() ? "" : line.channel->noise()};
  if (line.program) {
    parting.complaints = line.program->complaints();
    parting.end = line.program->end();
  }
  if (!hosts.empty() && !is_finishing_) listener_.lost(line.root, hosts, explanation_of(parting));
  if (std::exchange(will_bury_, true)) return;
  loop_.call_later([this, life = std::weak_ptr(life_)] {
    if (!life.expired()) bury();
  });
}

void Crew::bury() {
  will_bury_ = false;
  std::erase_if(lines_, [](const auto& line) { return line->is_settled; });
  if (lines_.empty()) listener_.ended();
}

Crew::Line& Crew::line_of(const Channel& channel) {
  return **std::ranges::find_if(lines_, [&](const auto& line) { return line->channel.get() == &channel; });
}

void Crew::finish() {
  is_finishing_ = true;
  for (const auto& line : lines_) {
    if (!line->has_ended) line->channel->finish();
  }
}

bool Crew::is_empty() const { return lines_.empty(); }

std::vector<HostIndex> Crew::unanswered() const {
  std::vector<HostIndex> hosts;
  for (HostIndex host = 0; host < host_count(); ++host) {
    if (is_reached(host)) hosts.push_back(host);
  }
  return hosts;
}

void Crew::kill_unanswered_links(int signal) {
  for (const auto& line : lines_) {
    if (line->program && !line->channel->has_greeted()) line->program->signal(signal);
  }
}

}  // namespace tutti::launch

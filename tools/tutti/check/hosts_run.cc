#include "tools/tutti/check/hosts_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>

#include "launch/launcher.h"
#include "os/clock.h"
#include "tools/tutti/check/cluster_json.h"
#include "tools/tutti/check/rank_program.h"
#include "tools/tutti/check/ssh_round.h"
#include "tools/tutti/check/tournament.h"
#include "tools/tutti/ranks.h"

namespace tutti::tool::check {

namespace {

constexpr std::chrono::seconds kSshPatience{10};
constexpr std::chrono::milliseconds kLook{300};  // between two looks at what has come
// Once all is known, for processes to end by themselves. One that hangs would never.
constexpr std::chrono::seconds kEndWithin{3};
constexpr std::chrono::seconds kLimitSlack{60};
constexpr std::chrono::seconds kStartSlack{120};  // for the start of all, and python3 on slow file systems

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// What the ranks have said so far. `hosts`: which host of the cluster each rank is on.
void collect(const std::string& folder, const std::vector<Rank>& hosts, Cluster& cluster) {
  Cluster ranks;  // the ranks count themselves, without hosts that could not take part
  for (const Rank host : hosts) ranks.hosts.push_back({.name = cluster.hosts[static_cast<std::size_t>(host)].name});
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    add_lines(ranks, static_cast<Rank>(rank), read_all(fmt::format("{}/rank.{}.out", folder, rank)));
  }
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    cluster.hosts[static_cast<std::size_t>(hosts[rank])] = std::move(ranks.hosts[rank]);
  }
  for (Pair& pair : ranks.pairs) {
    pair.a = hosts[static_cast<std::size_t>(pair.a)];
    pair.b = hosts[static_cast<std::size_t>(pair.b)];
  }
  cluster.pairs = std::move(ranks.pairs);
}

// Looks now and then at what has come, tells how far it is, and ends the job once everything is known.
class Watcher {
 public:
  Watcher(std::string folder, const std::vector<Rank>& hosts, const Cluster& cluster)
      : folder_(std::move(folder)), hosts_(hosts), cluster_(cluster), shows_(::isatty(STDERR_FILENO) == 1) {}

  launch::JobHooks hooks() {
    return {.begin =
                [this](os::EventLoop& loop, launch::JobView& job) {
                  loop_ = &loop;
                  job_ = &job;
                  look_later();
                },
            .end =
                [this] {
                  loop_->cancel(timer_);
                  if (shows_) fmt::print(stderr, "\r\x1b[K");
                }};
  }

 private:
  void look_later() {
    timer_ = loop_->call_at(Deadline::after(os::now(), kLook).at, [this] { look(); });
  }

  void look() {
    timer_ = {};
    collect(folder_, hosts_, cluster_);
    const std::size_t count = hosts_.size() * (hosts_.size() - 1) / 2;
    if (shows_) {
      const auto reports =
          std::ranges::count_if(cluster_.hosts, [](const auto& host) { return host.report.has_value(); });
      fmt::print(stderr, "\r\x1b[K{} of {} hosts have reported, {} of {} pairs are measured", reports,
                 cluster_.hosts.size(), cluster_.pairs.size(), count);
    }
    const bool is_known = hosts_.size() > 1 && cluster_.pairs.size() == count;
    if (is_known && !known_since_) known_since_ = os::now();
    if (known_since_ && Deadline::after(*known_since_, kEndWithin).has_passed(os::now())) {
      job_->stop();
      return;
    }
    look_later();
  }

  std::string folder_;
  std::vector<Rank> hosts_;
  Cluster cluster_;  // of its own: what is known while it runs
  bool shows_;
  os::EventLoop* loop_ = nullptr;
  launch::JobView* job_ = nullptr;
  os::EventLoop::Timer timer_ = {};
  std::optional<Time> known_since_ = {};
};

// Those that can take part, in order.
std::vector<Rank> able_hosts(const Cluster& cluster) {
  std::vector<Rank> hosts;
  for (std::size_t host = 0; host < cluster.hosts.size(); ++host) {
    if (cluster.hosts[host].failure.empty()) hosts.push_back(static_cast<Rank>(host));
  }
  return hosts;
}

Result<launch::Layout> layout_of(const Cluster& cluster, const std::vector<Rank>& hosts) {
  std::vector<launch::Host> list;
  for (const Rank host : hosts)
    list.push_back({.name = cluster.hosts[static_cast<std::size_t>(host)].name, .slots = 1});
  return launch::lay_out(list, {.ranks_per_host = 1});
}

void complete(launch::Settings& settings, const std::string& folder, int host_count) {
  const auto limit = std::chrono::ceil<std::chrono::seconds>(2 * time_for(host_count)) + kLimitSlack;
  settings.command = {settings.agent,   "check-rank",
                      "--bandwidth-ms", std::to_string(effort_for(host_count).bandwidth_time.count()),
                      "--limit-s",      std::to_string(limit.count())};
  settings.input = launch::InputPolicy::none;
  settings.output = {};
  settings.output.folder = folder;
  settings.timeout = limit + kStartSlack;
}

}  // namespace

Result<Cluster> check_hosts(launch::Settings settings, const std::string& machine) {
  Cluster cluster;
  for (const launch::Host& host : settings.layout.hosts) cluster.hosts.push_back({.name = host.name});
  const auto failures = ask_hosts(settings, machine, kSshPatience);
  for (std::size_t host = 0; host < failures.size(); ++host) cluster.hosts[host].failure = failures[host];
  const std::vector<Rank> hosts = able_hosts(cluster);
  if (hosts.empty()) return cluster;
  TUTTI_ASSIGN(const PrivateFolder folder, PrivateFolder::create());
  TUTTI_ASSIGN(settings.layout, layout_of(cluster, hosts));
  const auto count = static_cast<int>(hosts.size());
  complete(settings, folder.path(), count);
  fmt::print(stderr, "checking {} host{}: about {} s\n", count, count == 1 ? "" : "s",
             std::chrono::ceil<std::chrono::seconds>(time_for(count)).count() + 2);
  Watcher watcher(folder.path(), hosts, cluster);
  const auto code = launch::run(settings, watcher.hooks());
  collect(folder.path(), hosts, cluster);
  for (const Rank host : hosts) {
    CheckedHost& one = cluster.hosts[static_cast<std::size_t>(host)];
    if (!one.report && one.failure.empty() && !code) one.failure = code.status().text();
  }
  return cluster;
}

}  // namespace tutti::tool::check

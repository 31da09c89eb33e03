// Elastic jobs under chance: hosts come, go and crash, workers fail, hang and start late, discovery fails. After a
// while all is calm, and then every job has to come to an end by the rules.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include "base/random.h"
#include "base/text.h"
#include "launch/elastic/policy.h"

namespace tutti::launch {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

#ifdef TUTTI_HAS_SANITIZER
constexpr int kSeeds = 50;
#else
constexpr int kSeeds = 1000;
#endif
constexpr nanoseconds kStorm = 15min;
constexpr nanoseconds kEnd = 6h;
constexpr int kStepsMax = 200'000;

struct Machine {
  Host host;
  bool is_listed = true;
  bool is_up = true;
};

struct Process {
  std::string host;
  bool is_running = false;
  bool is_left_out = false;
};

// A cluster, and the launcher of one job in it. The first rule that is broken is kept in `fault`.
class Cluster {
 public:
  explicit Cluster(std::uint64_t seed)
      : random_(seed), settings_(draw_settings()), policy_(settings_, random_.next(), now_) {
    const auto count = static_cast<int>(2 + random_.below(6));
    for (int index = 0; index < count; ++index)
      machines_.push_back({.host = {fmt::format("h{}", index), static_cast<int>(1 + random_.below(4))}});
  }

  bool is_finished() const { return is_finished_; }  // rather than given up

  std::string run() {
    discover();
    at(random_below(20s), [this] { disturb(); });
    at(kStorm, [this] { calm_down(); });
    for (int step = 0; !is_over_; ++step) {
      if (!fault_.empty()) break;
      if (queue_.empty()) fault_ = "nothing will ever happen again, and the job is not over";
      if (step > kStepsMax) fault_ = "too many steps";
      if (since_start() > kEnd) fault_ = fmt::format("no end; waits for: {}", policy_.waits_for(now_));
      if (!fault_.empty()) break;
      const auto next = queue_.begin();
      now_ = std::max(now_, next->first);
      const auto function = std::move(next->second);
      queue_.erase(next);
      function();
    }
    if (fault_.empty() && must_finish() && !is_finished_) fault_ = fmt::format("gave up: {}", given_up_);
    return fault_.empty() ? "" : fmt::format("after {} s: {}", since_start() / 1s, fault_);
  }

 private:
  PolicySettings draw_settings() {
    PolicySettings settings;
    settings.ranks_min = static_cast<Rank>(1 + random_.below(5));
    settings.ranks_max = settings.ranks_min + static_cast<Rank>(random_.below(12));
    settings.hosts_may_come = random_.below(4) != 0;
    settings.wait = random_.below(2) == 0 ? nanoseconds(1h) : nanoseconds(60s);
    if (random_.below(3) != 0) settings.cooldown = {.min = 5s, .max = 120s};
    if (random_.below(3) == 0) settings.resets_max = static_cast<int>(random_.below(8));
    return settings;
  }
  // Hosts come back and the user has set no bounds that a storm could exceed.
  bool must_finish() const {
    return settings_.cooldown.max > 0s && !settings_.resets_max && settings_.wait > kStorm && slots() >= least();
  }
  int slots() const {
    int sum = 0;
    for (const Machine& machine : machines_) sum += machine.host.slots;
    return sum;
  }
  Rank least() const { return settings_.ranks_min; }

  nanoseconds since_start() const { return nanoseconds(now_.ns - kStart.ns); }
  nanoseconds random_below(nanoseconds most) {
    return nanoseconds(random_.below(static_cast<std::uint64_t>(most.count())));
  }
  bool is_stormy() const { return since_start() < kStorm; }
  bool chance(int percent) { return is_stormy() && random_.below(100) < static_cast<std::uint64_t>(percent); }
  void at(nanoseconds wait, std::function<void()> function) {
    queue_.emplace(Deadline::after(now_, wait).at, std::move(function));
  }
  void expect(bool holds, std::string_view what) {
    if (!holds && fault_.empty()) fault_ = what;
  }

  // ---- what happens to the job

  void discover() {
    if (settings_.hosts_may_come) at(1s, [this] { discover(); });
    if (!listed_.empty() && chance(10)) return;  // the script failed
    std::vector<Host> hosts;
    for (const Machine& machine : machines_)
      if (machine.is_listed) hosts.push_back(machine.host);
    listed_.clear();
    for (const Host& host : hosts) listed_[host.name] = host.slots;
    take(policy_.hosts_found(hosts, now_));
  }

  void disturb() {
    if (!is_stormy()) return;
    at(random_below(20s), [this] { disturb(); });
    Machine& machine = machines_[random_.below(machines_.size())];
    switch (random_.below(6)) {
      case 0: machine.is_listed = !machine.is_listed; break;
      case 1: machine.host.slots = static_cast<int>(1 + random_.below(4)); break;
      case 2: crash(machine); break;
      case 3: report(); break;
      default: fail_one();
    }
  }

  void fail_one() {
    if (processes_.empty()) return;
    auto victim = std::next(processes_.begin(), static_cast<std::ptrdiff_t>(random_.below(processes_.size())));
    end(victim->first, Ending::failed, "signal 9");
  }

  void report() {
    if (world_.generation < 0) return;
    const int generation = world_.generation - static_cast<int>(random_.below(2));
    if (generation == world_.generation) note_break();
    take(policy_.failure_reported(generation, "rank 1 does not answer", now_));
  }

  void crash(Machine& machine) {
    machine.is_up = false;
    const std::string name = machine.host.name;
    at(random_below(120s), [this, name] { machine_of(name).is_up = true; });
    const auto is_there = [&](const auto& entry) { return entry.second.host == name; };
    if (std::ranges::any_of(processes_, is_there)) lose(name);
  }

  void lose(const std::string& name) {
    for (auto entry = processes_.begin(); entry != processes_.end();) {
      if (entry->second.host == name) {
        if (is_member(entry->first)) note_break();
        entry = processes_.erase(entry);
      } else {
        ++entry;
      }
    }
    if (listed_.contains(name)) lost_[name] = now_;
    take(policy_.host_lost(name, "no answer", now_));
  }

  void calm_down() {
    for (Machine& machine : machines_) machine.is_up = machine.is_listed = true;
    if (world_.generation >= 0) work();
  }

  void work() {
    const int generation = world_.generation;
    at(30s, [this, generation] {
      if (is_stormy() || generation != world_.generation || !is_whole_) return;
      for (const WorldMember& member : world_.members) {
        const WorkerId worker = member.worker;
        at(random_below(2s), [this, worker] { end(worker, Ending::well, ""); });
      }
    });
  }

  void end(WorkerId worker, Ending how, std::string_view what) {
    const auto found = processes_.find(worker);
    if (found == processes_.end()) return;
    if (how == Ending::well && !found->second.is_left_out) ++ended_well_count_;
    if (how != Ending::well && is_member(worker)) note_break();
    processes_.erase(found);
    take(policy_.worker_ended(worker, how, what, now_));
  }

  bool is_member(WorkerId worker) const {
    const auto found = std::ranges::find(world_.members, worker, &WorldMember::worker);
    return found != world_.members.end();
  }
  void note_break() {
    if (!is_whole_ || world_.generation < 0) return;
    is_whole_ = false;
    broken_at_ = now_;
    ++break_count_;
  }
  Machine& machine_of(const std::string& name) {
    return *std::ranges::find_if(machines_, [&](const Machine& machine) { return machine.host.name == name; });
  }

  // ---- what the policy wants, and whether it may

  void take(const Actions& actions) {
    expect(!is_over_ || actions.empty(), "actions after the end");
    for (const Action& action : actions) std::visit([this](const auto& wanted) { carry_out(wanted); }, action);
  }

  bool may_be_used(const std::string& host) const {
    const auto lost = lost_.find(host);
    if (lost == lost_.end()) return true;
    if (settings_.cooldown.max == 0s) return false;
    return now_ >= Deadline::after(lost->second, settings_.cooldown.min).at;
  }

  void carry_out(const StartWorker& start) {
    const auto is_there = [&](const auto& entry) { return entry.second.host == start.host; };
    expect(listed_.contains(start.host), "a worker on a host that is not listed");
    expect(std::ranges::count_if(processes_, is_there) < listed_[start.host], "more workers than slots");
    expect(may_be_used(start.host), "a worker on a blacklisted host");
    lost_.erase(start.host);
    expect(processes_.try_emplace(start.worker, Process{.host = start.host}).second, "a number used twice");
    const WorkerId worker = start.worker;
    if (chance(3)) return;  // hangs
    const std::string host = start.host;
    at(random_below(chance(10) ? nanoseconds(30s) : nanoseconds(2s)), [this, worker, host] { begin(worker, host); });
  }

  void begin(WorkerId worker, const std::string& host) {
    const auto found = processes_.find(worker);
    if (found == processes_.end()) return;
    if (!machine_of(host).is_up) return lose(host);
    if (chance(2)) return end(worker, Ending::not_started, "no memory");
    if (chance(5)) return end(worker, Ending::failed, "exit code 1");
    found->second.is_running = true;
    take(policy_.worker_started(worker, now_));
  }

  void carry_out(const StopWorker& stop) {
    expect(processes_.contains(stop.worker), "a worker is stopped that is not there");
    at(random_below(5s), [this, worker = stop.worker] { end(worker, Ending::failed, "signal 15"); });
  }

  void carry_out(const PublishWorld& world) {
    expect(world.generation == world_.generation + 1, "generations follow each other");
    const auto size = static_cast<Rank>(world.members.size());
    expect(size >= settings_.ranks_min && size <= settings_.ranks_max, "a world of a wrong size");
    expect(world_.generation < 0 || now_ >= Deadline::after(published_at_, settings_.settle).at, "worlds too fast");
    std::map<std::string, int> used;
    std::vector<WorkerId> before;
    for (const WorldMember& member : world.members) {
      const auto found = processes_.find(member.worker);
      expect(found != processes_.end() && found->second.is_running, "a member that does not live");
      expect(listed_.contains(member.host) && ++used[member.host] <= listed_[member.host], "above the slots");
      expect(may_be_used(member.host), "a member on a blacklisted host");
      const bool is_newcomer = member.joined == world.generation;
      expect(is_newcomer != is_member(member.worker), "who joined is new");
      if (!is_newcomer) before.push_back(member.worker);
      expect(is_newcomer || before.size() == static_cast<std::size_t>(&member - world.members.data()) + 1,
             "newcomers come last");
    }
    check_order(before);
    for (const WorldMember& member : world_.members) {
      if (std::ranges::find(world.members, member.worker, &WorldMember::worker) == world.members.end())
        leave_out(member.worker);
    }
    world_ = world;
    published_at_ = now_;
    is_whole_ = true;
    work();
  }

  void check_order(const std::vector<WorkerId>& survivors) {
    std::size_t next = 0;
    for (const WorldMember& member : world_.members)
      if (next < survivors.size() && survivors[next] == member.worker) ++next;
    expect(next == survivors.size(), "survivors keep their order");
  }

  void leave_out(WorkerId worker) {
    const auto found = processes_.find(worker);
    if (found == processes_.end()) return;
    found->second.is_left_out = true;
    if (random_.below(5) == 0) return;  // does not look
    at(random_below(8s), [this, worker] { end(worker, Ending::well, ""); });
  }

  void carry_out(const Finish&) {
    expect(processes_.empty(), "finished with processes alive");
    expect(world_.generation < 0 || is_whole_, "finished with a world that is broken");
    expect(ended_well_count_ > 0, "finished without an end");
    is_over_ = is_finished_ = true;
  }

  void carry_out(const GiveUp& up) {
    const auto says = [&](std::string_view part) { return up.why.find(part) != std::string::npos; };
    const Time lacking = world_.generation < 0 ? kStart : broken_at_;
    const bool has_waited = now_ >= Deadline::after(lacking, settings_.wait).at;
    bool is_right = false;
    if (says("--restarts")) is_right = settings_.resets_max && break_count_ == *settings_.resets_max + 1;
    if (says("--elastic-timeout")) is_right = has_waited && !is_whole_;
    if (says("no other hosts can come")) is_right = !settings_.hosts_may_come && !is_whole_;
    if (says("ended well")) is_right = ended_well_count_ > 0;
    expect(is_right, fmt::format("gave up for no reason: {}", up.why));
    is_over_ = true;
    given_up_ = up.why;
  }

  void carry_out(const WaitUntil& wait) {
    expect(wait.at > now_, "a wait for the past");
    at(nanoseconds(wait.at.ns - now_.ns), [this] { take(policy_.pass(now_)); });
  }

  static constexpr Time kStart{1'000'000'000'000};
  Random random_;
  Time now_ = kStart;
  PolicySettings settings_;
  ElasticPolicy policy_;
  std::multimap<Time, std::function<void()>> queue_;
  std::vector<Machine> machines_;
  std::map<std::string, int> listed_;  // as the policy was told last
  std::map<std::string, Time> lost_;   // and not used since
  std::map<WorkerId, Process> processes_;
  PublishWorld world_ = {.generation = -1, .members = {}};
  Time published_at_ = {};
  Time broken_at_ = {};
  bool is_whole_ = false;
  int break_count_ = 0;
  int ended_well_count_ = 0;
  bool is_over_ = false;
  bool is_finished_ = false;
  std::string given_up_;
  std::string fault_;
};

std::optional<std::uint64_t> number_from(const char* name) {
  const char* given = std::getenv(name);
  return given == nullptr ? std::nullopt : text::integer_of<std::uint64_t>(given);
}

TEST(ElasticSimulation, JobsKeepTheRulesInAStormAndComeToAnEndAfterIt) {
  int run_count = 0;
  int finished_count = 0;
  // As in src/sim: seeds follow from TUTTI_SEED, and TUTTI_SIM_SEED is the only one where it is set.
  const auto only = number_from("TUTTI_SIM_SEED");
  Random seeds(number_from("TUTTI_SEED").value_or(1));
  for (; run_count < (only ? 1 : kSeeds); ++run_count) {
    const std::uint64_t seed = only ? *only : seeds.next() >> 32;  // short enough to be typed
    Cluster cluster(seed);
    ASSERT_EQ(cluster.run(), "") << "repeat it with: TUTTI_SIM_SEED=" << seed
                                 << " launch_test --gtest_filter=ElasticSimulation.*";
    finished_count += cluster.is_finished() ? 1 : 0;
  }
  if (only) return;
  EXPECT_GT(finished_count, kSeeds / 4);  // or the storm shows nothing
}

}  // namespace
}  // namespace tutti::launch

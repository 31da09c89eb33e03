// Decides how an elastic job goes on as hosts and processes come, fail and go. Pure: time goes in with every event,
// what is to be done comes out.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/deadline.h"
#include "bootstrap/job_world.h"
#include "launch/elastic/blacklist.h"
#include "launch/job.h"

namespace tutti::launch {

using bootstrap::WorkerId;
using bootstrap::WorldMember;

struct PolicySettings {
  Rank ranks_min = 1;
  Rank ranks_max = 1;
  std::optional<int> resets_max = {};  // how often a world may be formed anew after a failure; growing does not count
  bool hosts_may_come = false;         // somebody looks for hosts; otherwise the list stays as it is
  std::chrono::nanoseconds wait = std::chrono::seconds(600);  // for a world; then the job is given up
  Cooldown cooldown = {};

  // Workers on one host that may be the first to fail in their worlds before the host itself is taken to be at fault.
  int strikes_max = 3;
  std::chrono::nanoseconds strikes_kept = std::chrono::minutes(10);
  // After a failure others follow, as consequences or because a whole host is gone.
  std::chrono::nanoseconds settle = std::chrono::milliseconds(500);
  // Worlds that fail one after the other come more and more slowly, up to this.
  std::chrono::nanoseconds settle_max = std::chrono::seconds(30);
  std::chrono::nanoseconds short_world = std::chrono::seconds(60);  // which lived no longer counts as such a failure
  // Hosts that come at about the same time come into one world, and a world that only grows leaves the one before time.
  std::chrono::nanoseconds batch = std::chrono::seconds(2);
  std::chrono::nanoseconds growth_pace = std::chrono::seconds(10);
  // How long survivors who are enough wait for replacements to start.
  std::chrono::nanoseconds patience = std::chrono::seconds(10);
  std::chrono::nanoseconds start_timeout = std::chrono::seconds(60);  // of one worker
  // A worker that is left out learns of it from the new world and ends by itself within this, or is stopped.
  std::chrono::nanoseconds notice = std::chrono::seconds(5);
};

// Rank, size and generation are those of the world that is planned; the one that is published has the last word.
struct StartWorker {
  WorkerId worker = 0;
  std::string host = {};
  int slot = 0;
  int generation = 0;
  Rank rank = 0;
  Rank size = 0;
  bool operator==(const StartWorker&) const = default;
};
struct StopWorker {
  WorkerId worker = 0;
  bool operator==(const StopWorker&) const = default;
};
struct PublishWorld {
  int generation = 0;
  std::vector<WorldMember> members = {};  // by rank
  bool operator==(const PublishWorld&) const = default;
};
struct Finish {
  bool operator==(const Finish&) const = default;
};
struct GiveUp {
  std::string why = {};
  bool operator==(const GiveUp&) const = default;
};
struct WaitUntil {  // when to call pass(), unless something happens before
  Time at = {};
  bool operator==(const WaitUntil&) const = default;
};
using Action = std::variant<StartWorker, StopWorker, PublishWorld, Finish, GiveUp, WaitUntil>;
using Actions = std::vector<Action>;

enum class Ending : std::uint8_t { well, failed, not_started };

// Workers that live keep their identity and their order; newcomers come behind them, so that rank 0 is always one of
// those that have been there for longest. Events about workers that have ended before are ignored. After Finish or
// GiveUp there are no more actions; both come when nothing of the job has to be kept, and whatever lives is stopped.
class ElasticPolicy {
 public:
  ElasticPolicy(const PolicySettings& settings, std::uint64_t seed, Time now);

  Actions hosts_found(std::span<const Host> hosts, Time now);  // all there are, in order of preference
  Actions worker_started(WorkerId worker, Time now);
  Actions worker_ended(WorkerId worker, Ending how, std::string_view what, Time now);
  Actions host_lost(const std::string& host, std::string_view why, Time now);  // and all its workers with it
  // A member of that world says that its ranks cannot work together any more.
  Actions failure_reported(int generation, std::string_view what, Time now);
  Actions pass(Time now);

  bool is_over() const { return is_over_; }
  bool is_whole() const { return generation_ >= 0 && !is_broken_; }  // there is a world, and nobody is missing
  int generation() const { return generation_; }                     // -1: no world yet
  std::string waits_for(Time now) const;                             // a sentence for people; empty: for nothing

 private:
  enum class State : std::uint8_t { starting, running, leaving };
  struct Worker {
    std::string host;
    int slot = 0;
    State state = State::starting;
    Time since = {};     // when it was started
    int joined = -1;     // -1: a newcomer
    Deadline stop = {};  // of one that leaves
    bool is_stopped = false;
  };
  struct Strikes {
    int count = 0;
    Time last = {};
  };
  // Who would be in a world that is formed now.
  struct Outlook {
    std::vector<WorkerId> kept;                     // of the world as it is, in the order of their ranks
    std::vector<WorkerId> newcomers;                // started or about to be
    int starting_count = 0;                         // of the newcomers
    std::vector<std::pair<std::string, int>> free;  // host and slot, as many as may still be filled
    Rank reachable() const { return static_cast<Rank>(kept.size() + newcomers.size() + free.size()); }
    Rank ready() const { return static_cast<Rank>(kept.size() + newcomers.size()) - starting_count; }
  };

  Actions decide(Time now);
  void note_failure(bool was_member, const std::string& what, Time now);
  void break_world(std::string_view what, Time now);
  void strike(const std::string& host, std::string_view what, Time now);
  bool is_usable(const std::string& host, Time now) const;
  int slots_of(const std::string& host) const;  // 0: not found
  void leave(Worker& worker, Deadline stop);

  void expire_starts(Time now);
  void stop_leaving(Time now, Actions& actions);
  void wind_down(Time now, Actions& actions);
  Outlook look(Time now);
  void add_free_slots(Outlook& outlook, Time now) const;
  bool differs(const Outlook& outlook) const;
  Time due(const Outlook& outlook) const;
  void form(Time now, Actions& actions);
  bool has_waited_enough(const Outlook& outlook, Time now);
  void start_newcomers(Outlook& outlook, Time now, Actions& actions);
  void publish(const Outlook& outlook, Time now, Actions& actions);
  void give_up(std::string why, Actions& actions);
  void give_up_without_slots(Time now, Actions& actions);
  std::string shortage_text(Time now) const;
  std::chrono::nanoseconds settle() const;
  void wake_at(Time at);
  void plan_wake(Time now, Actions& actions);

  PolicySettings settings_;
  Blacklist blacklist_;
  std::map<std::string, Strikes> strikes_;
  std::vector<std::string> hosts_;      // in order of preference
  std::map<std::string, int> slots_;    // of each
  std::map<WorkerId, Worker> workers_;  // those that have not ended, by age
  std::vector<WorkerId> ranks_;         // what is left of the current world, by rank
  WorkerId next_worker_ = 0;
  int generation_ = -1;
  Time published_at_ = {};
  bool is_broken_ = false;
  Time broken_at_ = {};
  Time without_world_since_ = {};
  std::string last_failure_;
  Rank reachable_ = 0;  // how many ranks a world could have, when it was last looked at
  int reset_count_ = 0;
  int short_world_count_ = 0;  // one after the other
  std::optional<Time> change_seen_;
  bool is_winding_down_ = false;   // a worker has ended well
  bool has_failed_early_ = false;  // before the first world
  bool is_over_ = false;
  std::optional<Time> wake_;
};

}  // namespace tutti::launch

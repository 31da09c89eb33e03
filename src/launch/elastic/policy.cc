#include "launch/elastic/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti::launch {

ElasticPolicy::ElasticPolicy(const PolicySettings& settings, std::uint64_t seed, Time now)
    : settings_(settings), blacklist_(settings.cooldown, seed), without_world_since_(now) {
  const Rank limit = static_cast<Rank>(bootstrap::kWorldMembersMax);
  settings_.ranks_max = std::clamp<Rank>(settings_.ranks_max, 1, limit);
  settings_.ranks_min = std::clamp<Rank>(settings_.ranks_min, 1, settings_.ranks_max);
}

Actions ElasticPolicy::hosts_found(std::span<const Host> hosts, Time now) {
  hosts_.clear();
  slots_.clear();
  for (const Host& host : hosts) {
    const auto [place, is_new] = slots_.try_emplace(host.name, 0);
    place->second += std::max(host.slots, 0);
    if (is_new) hosts_.push_back(host.name);
  }
  return decide(now);
}

Actions ElasticPolicy::worker_started(WorkerId worker, Time now) {
  const auto found = workers_.find(worker);
  if (found != workers_.end() && found->second.state == State::starting) found->second.state = State::running;
  return decide(now);
}

Actions ElasticPolicy::worker_ended(WorkerId worker, Ending how, std::string_view what, Time now) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return decide(now);
  const Worker ended = std::move(found->second);
  workers_.erase(found);
  std::erase(ranks_, worker);
  if (ended.state == State::leaving) return decide(now);  // however it went
  if (how == Ending::well) {
    is_winding_down_ = true;
    return decide(now);
  }
  const std::string text = fmt::format("worker {} on {}: {}", worker, ended.host, what);
  const bool is_consequence = is_broken_ && ended.joined >= 0;  // of what has failed before in the same world
  if (how == Ending::not_started) {
    blacklist_.add(ended.host, std::string(what), now);
  } else if (!is_consequence) {
    strike(ended.host, text, now);
  }
  note_failure(ended.joined >= 0, text, now);
  return decide(now);
}

Actions ElasticPolicy::host_lost(const std::string& host, std::string_view why, Time now) {
  std::vector<WorkerId> lost;
  for (const auto& [id, worker] : workers_) {
    if (worker.host == host) lost.push_back(id);
  }
  const std::string text = fmt::format("host {} is lost: {}", host, why);
  for (const WorkerId id : lost) {
    const Worker worker = std::move(workers_.at(id));
    workers_.erase(id);
    std::erase(ranks_, id);
    if (worker.state != State::leaving) note_failure(worker.joined >= 0, text, now);
  }
  // A host that discovery does not name any more has been taken away, which is no fault of its own.
  const bool is_news = !lost.empty() || !blacklist_.has(host, now);
  if (slots_.contains(host) && is_news) blacklist_.add(host, fmt::format("lost: {}", why), now);
  return decide(now);
}

Actions ElasticPolicy::failure_reported(int generation, std::string_view what, Time now) {
  if (generation == generation_) break_world(what, now);
  return decide(now);
}

Actions ElasticPolicy::pass(Time now) { return decide(now); }

void ElasticPolicy::note_failure(bool was_member, const std::string& what, Time now) {
  if (was_member) {
    break_world(what, now);
  } else if (generation_ < 0) {
    has_failed_early_ = true;
  }
  if (!was_member) last_failure_ = what;
}

void ElasticPolicy::break_world(std::string_view what, Time now) {
  if (is_broken_ || generation_ < 0) return;
  is_broken_ = true;
  broken_at_ = now;
  without_world_since_ = now;
  last_failure_ = what;
  ++reset_count_;
  const bool was_short = now < Deadline::after(published_at_, settings_.short_world).at;
  short_world_count_ = was_short ? short_world_count_ + 1 : 0;
}

void ElasticPolicy::strike(const std::string& host, std::string_view what, Time now) {
  Strikes& strikes = strikes_[host];
  if (now >= Deadline::after(strikes.last, settings_.strikes_kept).at) strikes.count = 0;
  strikes.last = now;
  if (++strikes.count < settings_.strikes_max) return;
  if (!blacklist_.has(host, now))
    blacklist_.add(host, fmt::format("{} ranks failed there, the last one {}", strikes.count, what), now);
  strikes.count = 0;
}

bool ElasticPolicy::is_usable(const std::string& host, Time now) const {
  return slots_of(host) > 0 && !blacklist_.has(host, now);
}

int ElasticPolicy::slots_of(const std::string& host) const {
  const auto found = slots_.find(host);
  return found == slots_.end() ? 0 : found->second;
}

void ElasticPolicy::leave(Worker& worker, Deadline stop) {
  worker.state = State::leaving;
  worker.stop = stop;
}

Actions ElasticPolicy::decide(Time now) {
  Actions actions;
  if (is_over_) return actions;
  wake_.reset();
  expire_starts(now);
  if (settings_.resets_max && reset_count_ > *settings_.resets_max) {
    give_up(
        fmt::format("a world failed after {} had been formed anew, which is as often as --restarts allows; last: {}",
                    *settings_.resets_max, last_failure_),
        actions);
  } else if (is_winding_down_) {
    wind_down(now, actions);
  } else {
    form(now, actions);
  }
  if (is_over_) return actions;
  stop_leaving(now, actions);
  plan_wake(now, actions);
  return actions;
}

void ElasticPolicy::expire_starts(Time now) {
  for (auto& [id, worker] : workers_) {
    if (worker.state != State::starting || now < Deadline::after(worker.since, settings_.start_timeout).at) continue;
    const auto limit_s = std::chrono::duration_cast<std::chrono::seconds>(settings_.start_timeout).count();
    const std::string what = fmt::format("it did not start a rank within {} s", limit_s);
    if (!blacklist_.has(worker.host, now)) blacklist_.add(worker.host, what, now);
    last_failure_ = fmt::format("host {}: {}", worker.host, what);
    if (generation_ < 0) has_failed_early_ = true;
    leave(worker, Deadline{now});
  }
}

// Where nobody can be given its state any more, no new world is formed: those who are left end or fail.
void ElasticPolicy::wind_down(Time now, Actions& actions) {
  if (is_broken_ || has_failed_early_) {
    give_up(fmt::format("{}, while other ranks had already ended well and no new world could begin where they were",
                        last_failure_),
            actions);
    return;
  }
  if (generation_ < 0) {
    const Outlook outlook = look(now);
    if (outlook.starting_count == 0 && outlook.ready() >= settings_.ranks_min) publish(outlook, now, actions);
  } else {
    for (auto& [id, worker] : workers_) {
      if (worker.joined < 0 || worker.state == State::leaving) leave(worker, Deadline{now});
    }
  }
  if (!workers_.empty()) return;
  is_over_ = true;
  actions.emplace_back(Finish{});
}

void ElasticPolicy::stop_leaving(Time now, Actions& actions) {
  for (auto& [id, worker] : workers_) {
    if (worker.state != State::leaving || worker.is_stopped) continue;
    if (worker.stop.has_passed(now)) {
      worker.is_stopped = true;
      actions.emplace_back(StopWorker{.worker = id});
    } else {
      wake_at(worker.stop.at);
    }
  }
}

void ElasticPolicy::give_up(std::string why, Actions& actions) {
  for (auto& [id, worker] : workers_) {
    if (!std::exchange(worker.is_stopped, true)) actions.emplace_back(StopWorker{.worker = id});
  }
  is_over_ = true;
  actions.emplace_back(GiveUp{.why = std::move(why)});
}

void ElasticPolicy::wake_at(Time at) { wake_ = std::min(wake_.value_or(at), at); }

void ElasticPolicy::plan_wake(Time now, Actions& actions) {
  for (const auto& [id, worker] : workers_) {
    if (worker.state == State::starting) wake_at(Deadline::after(worker.since, settings_.start_timeout).at);
  }
  if (const auto end = blacklist_.next_end(now)) wake_at(*end);
  if (wake_) actions.emplace_back(WaitUntil{.at = *wake_});
}

}  // namespace tutti::launch

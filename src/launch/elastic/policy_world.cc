// Who comes into the next world, and when it is formed: the second half of ElasticPolicy.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "launch/elastic/policy.h"

namespace tutti::launch {
namespace {

constexpr int kPatientWorlds = 3;  // short ones in a row, before the next come more slowly
constexpr int kDoublingsMax = 16;

}  // namespace

// Also parts with newcomers for whom there is no place any more.
ElasticPolicy::Outlook ElasticPolicy::look(Time now) {
  Outlook outlook;
  std::map<std::string, int> taken;
  Rank count = 0;
  const auto take = [&](const std::string& host) {
    if (count >= settings_.ranks_max || !is_usable(host, now) || taken[host] >= slots_of(host)) return false;
    ++taken[host];
    ++count;
    return true;
  };
  for (const WorkerId id : ranks_) {
    if (take(workers_.at(id).host)) outlook.kept.push_back(id);
  }
  for (auto& [id, worker] : workers_) {
    if (worker.joined >= 0 || worker.state == State::leaving) continue;
    if (!take(worker.host)) {
      leave(worker, Deadline{now});
      continue;
    }
    outlook.newcomers.push_back(id);
    if (worker.state == State::starting) ++outlook.starting_count;
  }
  add_free_slots(outlook, now);
  reachable_ = outlook.reachable();
  return outlook;
}

// A slot is free once its worker has ended, not when it has been told to.
void ElasticPolicy::add_free_slots(Outlook& outlook, Time now) const {
  std::map<std::string, std::set<int>> used;
  for (const auto& [id, worker] : workers_) used[worker.host].insert(worker.slot);
  for (const std::string& host : hosts_) {
    if (!is_usable(host, now)) continue;
    const std::set<int>& used_here = used[host];
    int free_count = slots_of(host) - static_cast<int>(used_here.size());
    for (int slot = 0; free_count > 0; ++slot) {
      if (outlook.reachable() >= settings_.ranks_max) return;
      if (used_here.contains(slot)) continue;
      outlook.free.emplace_back(host, slot);
      --free_count;
    }
  }
}

bool ElasticPolicy::differs(const Outlook& outlook) const {
  return outlook.kept.size() != ranks_.size() || !outlook.newcomers.empty() || !outlook.free.empty();
}

std::chrono::nanoseconds ElasticPolicy::settle() const {
  const int doublings = std::clamp(short_world_count_ - kPatientWorlds, 0, kDoublingsMax);
  return std::min(settings_.settle_max, settings_.settle * (1 << doublings));
}

Time ElasticPolicy::due(const Outlook& outlook) const {
  if (generation_ < 0) return without_world_since_;
  if (is_broken_) return Deadline::after(broken_at_, settle()).at;
  const Time batched = Deadline::after(*change_seen_, settings_.batch).at;
  const bool only_grows = outlook.kept.size() == ranks_.size();
  return only_grows ? std::max(batched, Deadline::after(published_at_, settings_.growth_pace).at) : batched;
}

void ElasticPolicy::form(Time now, Actions& actions) {
  Outlook outlook = look(now);
  if (is_whole() && !differs(outlook)) {
    change_seen_.reset();
    return;
  }
  if (!change_seen_) change_seen_ = now;
  if (const Time at = due(outlook); at > now) return wake_at(at);
  if (outlook.reachable() < settings_.ranks_min) {
    // A world that is whole goes on, though it has members on hosts that are to be left: there is no better one.
    if (!is_whole() && outlook.starting_count == 0) give_up_without_slots(now, actions);
    return;
  }
  start_newcomers(outlook, now, actions);
  if (outlook.starting_count > 0 && !has_waited_enough(outlook, now)) return;
  if (outlook.ready() < settings_.ranks_min) return;
  const auto changes = outlook.kept.size() != ranks_.size() || outlook.ready() > static_cast<Rank>(ranks_.size());
  if (!is_whole() || changes) publish(outlook, now, actions);
}

// Whether survivors go on without the newcomers that are still starting; those come into a later world.
bool ElasticPolicy::has_waited_enough(const Outlook& outlook, Time now) {
  if (is_whole() || outlook.kept.empty() || outlook.ready() < settings_.ranks_min) return false;
  Time first = now;
  for (const WorkerId id : outlook.newcomers) {
    const Worker& worker = workers_.at(id);
    if (worker.state == State::starting) first = std::min(first, worker.since);
  }
  const Deadline end = Deadline::after(first, settings_.patience);
  if (!end.has_passed(now)) wake_at(end.at);
  return end.has_passed(now);
}

void ElasticPolicy::start_newcomers(Outlook& outlook, Time now, Actions& actions) {
  const Rank size = outlook.reachable();
  for (auto& [host, slot] : outlook.free) {
    const WorkerId id = next_worker_++;
    const auto rank = static_cast<Rank>(outlook.kept.size() + outlook.newcomers.size());
    workers_[id] = {.host = host, .slot = slot, .since = now};
    outlook.newcomers.push_back(id);
    ++outlook.starting_count;
    actions.emplace_back(StartWorker{
        .worker = id, .host = host, .slot = slot, .generation = generation_ + 1, .rank = rank, .size = size});
  }
  outlook.free.clear();
}

void ElasticPolicy::publish(const Outlook& outlook, Time now, Actions& actions) {
  ++generation_;
  std::vector<WorkerId> ranks = outlook.kept;
  for (const WorkerId id : outlook.newcomers) {
    if (workers_.at(id).state == State::running) ranks.push_back(id);
  }
  PublishWorld world{.generation = generation_, .members = {}};
  for (const WorkerId id : ranks) {
    Worker& worker = workers_.at(id);
    if (worker.joined < 0) worker.joined = generation_;
    world.members.push_back({.worker = id, .host = worker.host, .slot = worker.slot, .joined = worker.joined});
  }
  for (const WorkerId id : ranks_) {
    if (std::ranges::find(ranks, id) == ranks.end()) leave(workers_.at(id), Deadline::after(now, settings_.notice));
  }
  ranks_ = std::move(ranks);
  published_at_ = now;
  is_broken_ = false;
  has_failed_early_ = false;
  change_seen_.reset();
  actions.emplace_back(std::move(world));
}

void ElasticPolicy::give_up_without_slots(Time now, Actions& actions) {
  std::int64_t slots_ever = 0;
  for (const std::string& host : hosts_) {
    if (!blacklist_.has_for_good(host)) slots_ever += slots_of(host);
  }
  if (!settings_.hosts_may_come && slots_ever < settings_.ranks_min) {
    give_up(fmt::format("{}; no other hosts can come, which needs --host-discovery-script", shortage_text(now)),
            actions);
    return;
  }
  const Deadline end = Deadline::after(without_world_since_, settings_.wait);
  if (!end.has_passed(now)) return wake_at(end.at);
  const auto wait_s = std::chrono::duration_cast<std::chrono::seconds>(settings_.wait).count();
  give_up(fmt::format("{}; it has waited {} s (--elastic-timeout)", shortage_text(now), wait_s), actions);
}

std::string ElasticPolicy::shortage_text(Time now) const {
  const auto usable_count =
      std::ranges::count_if(hosts_, [&](const std::string& host) { return is_usable(host, now); });
  std::string text = fmt::format("the job needs {} ranks at least (--min-np) and can have {}, on {} of {} known hosts",
                                 settings_.ranks_min, reachable_, usable_count, hosts_.size());
  if (const std::string out = blacklist_.text(now); !out.empty()) text += fmt::format("; blacklisted: {}", out);
  if (!last_failure_.empty()) text += fmt::format("; last failure: {}", last_failure_);
  return text;
}

std::string ElasticPolicy::waits_for(Time now) const {
  if (is_over_ || is_winding_down_ || is_whole() || reachable_ >= settings_.ranks_min) return {};
  return shortage_text(now);
}

}  // namespace tutti::launch

#include "bootstrap/store/waits.h"

#include <limits>

namespace tutti::bootstrap {
namespace {

CallId first_of(ActorId client) { return {client, 0}; }
CallId last_of(ActorId client) { return {client, std::numeric_limits<std::uint64_t>::max()}; }

}  // namespace

std::size_t Waits::count_of(ActorId client) const {
  const auto begin = waits_.lower_bound(first_of(client));
  return static_cast<std::size_t>(std::distance(begin, waits_.upper_bound(last_of(client))));
}

std::optional<Time> Waits::next() const {
  if (by_time_.empty()) return std::nullopt;
  return by_time_.begin()->first;
}

void Waits::add(const CallId& call, std::string_view key, Time until) {
  remove(call);
  waits_.emplace(call, Wait{std::string(key), until});
  by_key_[std::string(key)].insert(call);
  by_time_.emplace(until, call);
}

void Waits::remove(const CallId& call) {
  if (const auto found = waits_.find(call); found != waits_.end()) erase(found);
}

void Waits::erase(Entry entry) {
  const auto& [call, wait] = *entry;
  by_time_.erase({wait.until, call});
  const auto same_key = by_key_.find(wait.key);
  same_key->second.erase(call);
  if (same_key->second.empty()) by_key_.erase(same_key);
  waits_.erase(entry);
}

void Waits::drop(ActorId client) {
  auto entry = waits_.lower_bound(first_of(client));
  while (entry != waits_.end() && entry->first.client == client) erase(entry++);
}

std::vector<CallId> Waits::take(std::string_view key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return {};
  const std::vector<CallId> calls(found->second.begin(), found->second.end());
  for (const CallId& call : calls) erase(waits_.find(call));
  return calls;
}

std::vector<CallId> Waits::take_due(Time now) {
  std::vector<CallId> calls;
  for (const auto& [until, call] : by_time_) {
    if (until > now) break;
    calls.push_back(call);
  }
  for (const CallId& call : calls) erase(waits_.find(call));
  return calls;
}

}  // namespace tutti::bootstrap

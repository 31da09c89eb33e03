#include "launch/roll.h"

#include <unistd.h>

namespace tutti::launch {

Roll::Roll(const Settings& settings, Time started)
    : status_{.name = settings.job,
              .command = settings.command,
              .folder = settings.folder,
              .pid = static_cast<std::int32_t>(::getpid()),
              .started = started} {}

void Roll::begin(const Layout& layout) {
  status_.ranks.clear();
  for (const Seat& seat : layout.seats) {
    status_.ranks.push_back({.rank = seat.rank, .host = layout.hosts[seat.host].name});
  }
}

RankStatus* Roll::find(Rank rank) {
  return rank >= 0 && static_cast<std::size_t>(rank) < status_.ranks.size()
             ? &status_.ranks[static_cast<std::size_t>(rank)]
             : nullptr;
}

bool Roll::is_running(Rank rank) const {
  const auto index = static_cast<std::size_t>(rank);
  return rank >= 0 && index < status_.ranks.size() && status_.ranks[index].state == RankState::running;
}

void Roll::started(const Started& started) {
  RankStatus* const rank = find(started.rank);
  if (rank == nullptr) return;
  rank->pid = started.pid;
  rank->state = RankState::running;
}

void Roll::cannot_start(Rank rank) {
  if (RankStatus* const found = find(rank)) found->state = RankState::ended;
}

void Roll::ended(const Ended& ended) {
  RankStatus* const rank = find(ended.rank);
  if (rank == nullptr) return;
  rank->state = RankState::ended;
  rank->code = ended.code;
  rank->signal = ended.signal;
}

void Roll::lost(const Layout& layout, HostIndex host) {
  for (const Seat& seat : layout.seats) {
    RankStatus* const rank = find(seat.rank);
    if (seat.host == host && rank != nullptr && rank->state != RankState::ended) rank->state = RankState::lost;
  }
}

void Roll::sampled(const Samples& samples) {
  for (const Sample& sample : samples.samples) {
    if (RankStatus* const rank = find(sample.rank)) rank->sample = sample;
  }
}

}  // namespace tutti::launch

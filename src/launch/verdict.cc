#include "launch/verdict.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "launch/rank_list.h"

namespace tutti::launch {

namespace {

constexpr std::string_view kWho = "tutti run: ";
constexpr std::string_view kIndent = "    ";
constexpr std::size_t kGroupsMax = 5;  // of ranks that failed in different ways
constexpr int kExitCodeMask = 0xff;    // what a process can say

int code_of(const Ended& ended) {
  const int code = (ended.signal != 0 ? kSignalCodeBase + ended.signal : ended.code) & kExitCodeMask;
  return code == 0 ? 1 : code;  // a failure stays one
}

std::string signal_text(int signal) {
  const char* const meaning = ::strsignal(signal);
  return meaning == nullptr ? fmt::format("signal {}", signal) : fmt::format("signal {} ({})", signal, meaning);
}

std::string how_of(const Ended& ended) {
  if (ended.signal == 0) return fmt::format("exit code {}", ended.code);
  std::string text = "killed by " + signal_text(ended.signal);
  if (!ended.has_core) return text;
  if (ended.core.empty()) return text + ", core dumped";
  return text + (ended.core.front() == '/' ? ", core dumped to " : ", core dumped, taken by ") + ended.core;
}

std::string hint_of(const Ended& ended) {
  if (ended.signal != SIGKILL || ended.was_stopped) return {};
  return "; nothing of this job sent it: where memory has run out the kernel does, see 'dmesg' there";
}

// "20 ms", "12.3 s", "2 h 5 min": as exact as people want it.
std::string time_text(std::uint64_t ns) {
  constexpr double kNsPerSecond = 1e9;
  constexpr double kMinute = 60;
  constexpr int kMinutesPerHour = 60;
  const double seconds = static_cast<double>(ns) / kNsPerSecond;
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 2 * kMinute) return fmt::format("{:.1f} s", seconds);
  const auto minutes = static_cast<std::uint64_t>(seconds / kMinute);
  if (minutes < 2 * kMinutesPerHour) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / kMinutesPerHour, minutes % kMinutesPerHour);
}

std::string wish_text(int signal) { return signal == SIGINT ? "Ctrl-C" : signal_text(signal); }

std::string delay_text(Time from, Time to) { return time_text(to > from ? to.ns - from.ns : 0); }

}  // namespace

Verdict::Verdict(const Layout& layout, std::chrono::milliseconds grace)
    : layout_(&layout), grace_(grace), ranks_(layout.seats.size()), running_(layout.size()) {}

void Verdict::begin(Time now) { begin_ = now; }

Measure Verdict::ended(const Ended& ended, Time now) {
  sentence_.clear();
  RankEnd* const rank = running_rank(ended.rank);
  if (rank == nullptr) return Measure::none;
  if (ended.signal == 0 && ended.code == 0) {
    settle(*rank, Fate::well, now);
    return Measure::none;
  }
  if (cause_ && ended.was_stopped) {
    settle(*rank, Fate::stopped, now);
    return Measure::none;
  }
  rank->how = how_of(ended);
  settle(*rank, Fate::failed, now);
  return fail(ended.rank, code_of(ended), rank->how + duration_text(now) + hint_of(ended), now);
}

Measure Verdict::cannot_start(const CannotStart& failure, Time now) {
  sentence_.clear();
  RankEnd* const rank = running_rank(failure.rank);
  if (rank == nullptr) return Measure::none;
  rank->how = "cannot be started: " + failure.text;
  settle(*rank, Fate::failed, now);
  return fail(failure.rank, kCannotStartCode, rank->how, now);
}

Measure Verdict::host_lost(HostIndex host, const std::string& why, Time now) {
  sentence_.clear();
  std::vector<Rank> lost;
  for (const Seat& seat : layout_->seats) {
    RankEnd* const rank = seat.host == host ? running_rank(seat.rank) : nullptr;
    if (rank == nullptr) continue;
    settle(*rank, Fate::lost, now);
    lost.push_back(seat.rank);
  }
  if (lost.empty()) return Measure::none;
  if (cause_) {
    lost_hosts_.push_back({host, why});
    return Measure::none;
  }
  const std::string& name = layout_->hosts[host].name;
  sentence_ = fmt::format("{}host {} is lost, with {}: {}", kWho, name, ranks_text(lost), why);
  return stop({.at = now,
               .code = kHostLostCode,
               .culprit = Culprit{kNoRank, host},
               .text = fmt::format("host {} was the first to fail: {}{}; {} ran there", name, why, duration_text(now),
                                   ranks_text(lost))});
}

Measure Verdict::interrupted(int signal, Time now) {
  sentence_.clear();
  if (is_over()) return Measure::none;
  ++interrupts_;
  const bool is_first = interrupts_ == 1;
  if (!is_first && !has_killed_) {
    has_killed_ = true;
    sentence_ =
        fmt::format("{}{} again: killing {} at once", kWho, wish_text(signal), ranks_text(ranks_with(Fate::running)));
    return Measure::kill;
  }
  if (!is_first) return Measure::none;
  sentence_ = fmt::format("{}{}: {} have {} to end; once more kills them at once", kWho, wish_text(signal),
                          ranks_text(ranks_with(Fate::running)),
                          time_text(static_cast<std::uint64_t>(std::chrono::nanoseconds(grace_).count())));
  if (cause_) return Measure::none;  // they are being ended already
  return stop({.at = now,
               .code = kSignalCodeBase + signal,
               .text = fmt::format("ended by {}{}", wish_text(signal), duration_text(now))});
}

Measure Verdict::timed_out(std::chrono::seconds limit, Time now) {
  sentence_.clear();
  if (is_over() || cause_) return Measure::none;
  sentence_ = fmt::format("{}the job has reached its time limit of {} s: ending {}", kWho, limit.count(),
                          ranks_text(ranks_with(Fate::running)));
  return stop({.at = now,
               .code = kTimeoutCode,
               .text = fmt::format("ended because the job reached its time limit of {} s (--timeout)", limit.count())});
}

Measure Verdict::output_lost(const Status& why, Time now) {
  sentence_.clear();
  if (is_over() || cause_) return Measure::none;
  sentence_ = fmt::format("{}ending {}, because output is lost", kWho, ranks_text(ranks_with(Fate::running)));
  return stop({.at = now,
               .code = why.code() == Code::peer_lost ? kSignalCodeBase + SIGPIPE : kOutputLostCode,
               .text = fmt::format("ended because output was lost: {}", why.text())});
}

std::optional<Verdict::Culprit> Verdict::culprit() const { return cause_ ? cause_->culprit : std::nullopt; }

std::vector<std::string> Verdict::report(const std::vector<std::string>& last_lines) const {
  if (!cause_) return {};
  std::vector<std::string> lines = {std::string(kWho) + cause_->text};
  const auto add = [&](std::string_view what, const std::string& whom) {
    if (!whom.empty()) lines.push_back(fmt::format("{}{}: {}", kWho, what, whom));
  };
  if (cause_->culprit && cause_->culprit->rank != kNoRank && !last_lines.empty()) {
    lines.push_back(std::string(kWho) + "last lines of its output:");
    for (const std::string& line : last_lines) lines.push_back(std::string(kIndent) + line);
  }
  for (const std::string& other : others_that_failed()) add("failed by themselves afterwards", other);
  for (const HostEnd& lost : lost_hosts_)
    add("lost afterwards", fmt::format("host {}, {}", layout_->hosts[lost.host].name, lost.why));
  add("ended because of it", ranks_text(ranks_with(Fate::stopped)));
  add("nothing is known of the end of", ranks_text(ranks_with(Fate::running)));
  return lines;
}

Verdict::RankEnd* Verdict::running_rank(Rank rank) {
  if (rank < 0 || rank >= layout_->size()) return nullptr;
  RankEnd& found = ranks_[static_cast<std::size_t>(rank)];
  return found.fate == Fate::running ? &found : nullptr;
}

void Verdict::settle(RankEnd& rank, Fate fate, Time now) {
  rank.fate = fate;
  rank.at = now;
  --running_;
}

Measure Verdict::fail(Rank rank, int code, const std::string& how, Time now) {
  if (cause_) return Measure::none;
  const HostIndex host = layout_->seats[static_cast<std::size_t>(rank)].host;
  const std::string others = ranks_text(ranks_with(Fate::running));
  sentence_ = fmt::format("{}{} failed: {}", kWho, rank_text(rank), how);
  if (!others.empty()) sentence_ += "; ending " + others;
  return stop({.at = now,
               .code = code,
               .culprit = Culprit{rank, host},
               .text = fmt::format("{} was the first to fail: {}", rank_text(rank), how)});
}

// The order goes out even when no rank is left: ranks may have children that are.
Measure Verdict::stop(Cause cause) {
  cause_ = std::move(cause);
  return Measure::stop;
}

std::string Verdict::rank_text(Rank rank) const {
  return fmt::format("rank {} on {}", rank, layout_->hosts[layout_->seats[static_cast<std::size_t>(rank)].host].name);
}

std::string Verdict::duration_text(Time now) const {
  return begin_ ? " after " + delay_text(*begin_, now) : std::string();
}

std::vector<Rank> Verdict::ranks_with(Fate fate) const {
  std::vector<Rank> ranks;
  for (Rank rank = 0; rank < layout_->size(); ++rank)
    if (ranks_[static_cast<std::size_t>(rank)].fate == fate) ranks.push_back(rank);
  return ranks;
}

// "rank 5 (exit code 1, 20 ms later)": those that failed in the same way together, who failed first in front.
std::vector<std::string> Verdict::others_that_failed() const {
  struct Group {
    std::vector<Rank> ranks;
    std::string how;
    Time first;
    Time last;
  };
  std::map<std::string, Group> by_how;
  for (const Rank rank : ranks_with(Fate::failed)) {
    if (cause_->culprit && cause_->culprit->rank == rank) continue;
    const RankEnd& end = ranks_[static_cast<std::size_t>(rank)];
    Group& group = by_how.try_emplace(end.how, Group{{}, end.how, end.at, end.at}).first->second;
    group.first = std::min(group.first, end.at);
    group.last = std::max(group.last, end.at);
    group.ranks.push_back(rank);
  }
  std::vector<Group> groups;
  for (auto& [how, group] : by_how) groups.push_back(std::move(group));
  std::ranges::stable_sort(groups, {}, &Group::first);
  std::vector<std::string> texts;
  std::size_t left_out = 0;
  for (const Group& group : groups) {
    if (texts.size() == kGroupsMax) {
      left_out += group.ranks.size();
      continue;
    }
    const std::string first = delay_text(cause_->at, group.first);
    const std::string last = delay_text(cause_->at, group.last);
    texts.push_back(fmt::format("{} ({}, {} later)", ranks_text(group.ranks), group.how,
                                first == last ? first : fmt::format("{} to {}", first, last)));
  }
  if (left_out > 0) texts.push_back(fmt::format("{} more", left_out));
  return texts;
}

}  // namespace tutti::launch

#include "comm/lateness.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "comm/blame.h"
#include "comm/watch/late.h"
#include "os/clock.h"

namespace tutti::comm {

using transport::Channel;

namespace {

constexpr std::size_t kNamedMax = 3;
// A question goes there and back in milliseconds; looking at a thread takes up to some 100 ms.
constexpr std::chrono::nanoseconds kAnswersWithin = std::chrono::seconds(2);

bool has_entered(const Channel& channel, Rank member) {
  const transport::Tag tag{channel.block(member).head().tag.load(std::memory_order_acquire)};
  return transport::has_reached(tag.call(), channel.call());
}

}  // namespace

Lateness::Late Lateness::late_of(const Side& side, const Operation& operation, Rank member) {
  const Channel& channel = operation.track().channel;
  if (!channel.is_remote(member)) {
    return {member, activity_text(operation, member), has_entered(channel, member)};
  }
  const Standing standing = side.outside()->look_at(channel.peer(member).rank, collective_call_of(operation));
  return {member, standing.text, standing.is_in_call};
}

// Ranks of this host that have not come are seen even where they are not what this one waits for just now. Who is in
// the call waits too: it is named only when nobody else is to blame.
std::vector<Lateness::Late> Lateness::all_late(const Side& side, const Operation& operation) {
  const Channel& channel = operation.track().channel;
  std::vector<Late> all;
  for (Rank member = 0; member < channel.size(); ++member) {
    if (member == channel.self()) continue;
    const bool is_missing = !channel.is_remote(member) && !has_entered(channel, member);
    if (is_missing || operation.waits_for(member)) all.push_back(late_of(side, operation, member));
  }
  const bool has_culprit = std::any_of(all.begin(), all.end(), [](const Late& late) { return !late.is_in_call; });
  if (has_culprit) std::erase_if(all, [](const Late& late) { return late.is_in_call; });
  return all;
}

// Empty: not known yet. In a job with a courier the late process answers for itself, since the kernel often lets nobody
// else look at it.
std::string Lateness::portrait_of(const Side& side, const Operation& operation, Rank member) {
  const transport::Member& peer = operation.track().channel.peer(member);
  if (side.outside() != nullptr) return side.outside()->portrait_of(peer.rank);
  const auto found = std::find_if(seen_.begin(), seen_.end(), [&](const auto& seen) { return seen.first == member; });
  if (found != seen_.end()) return found->second;
  const auto activity = watch::activity_of(peer.pid, watch::StackWish::with_stack);
  return seen_.emplace_back(member, watch::sentence_of(activity)).second;
}

void Lateness::look(const Side& side, const Operation& operation, std::chrono::nanoseconds waited) {
  // Before that an earlier call of this rank is waited for, which has warnings of its own.
  if (has_warned_ || !operation.has_entered() || operation.is_done()) return;
  if (began_.ns == 0) began_ = os::now();
  const bool is_time_up = Deadline::after(began_, kAnswersWithin).has_passed(os::now());
  const std::vector<Late> all = all_late(side, operation);
  if (all.empty()) return;
  bool is_known = true;
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), kNamedMax); ++i) {
    const Late& late = all[i];
    std::string activity = late.activity.empty() ? "has not answered what it is doing" : late.activity;
    is_known = is_known && !late.activity.empty();
    if (!operation.track().channel.peer(late.member).is_same_process) {
      const std::string portrait = portrait_of(side, operation, late.member);
      is_known = is_known && !portrait.empty();
      activity += fmt::format("; its main thread: {}", portrait.empty() ? "no answer" : portrait);
    }
    if (i == 0) {
      text = waiting_text(operation, late.member, activity, waited);
    } else {
      text +=
          fmt::format("; and for {}, which {}", name_of_peer(operation.track().channel.peer(late.member)), activity);
    }
  }
  if (!is_known && !is_time_up) return;
  if (all.size() > kNamedMax) text += fmt::format("; and for {} more", all.size() - kNamedMax);
  has_warned_ = true;
  log::write(LogLevel::warning, side.rank(), text + "; it goes on waiting");
}

}  // namespace tutti::comm

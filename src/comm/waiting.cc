#include "comm/waiting.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "comm/blame.h"
#include "comm/side.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/memory_barrier.h"
#include "os/relax.h"

namespace tutti::comm {

using transport::Bell;
using transport::Channel;

namespace {

// Yielding finds the next rank on this core at once; sleeping and waking costs several microseconds. A rank that has
// waited for this long has time for that.
constexpr std::chrono::nanoseconds kYieldFor = std::chrono::milliseconds(1);
constexpr int kYieldsPerLook = 16;  // at the clock
// The longest sleep: also how long it takes to notice that somebody died, and the price of a wake-up that was missed.
constexpr std::chrono::nanoseconds kSleepFor = std::chrono::milliseconds(50);
constexpr std::chrono::nanoseconds kSleepForMany = std::chrono::milliseconds(1);
// The shortest sleep on the network, during which signals of ranks of this host are not heard.
constexpr std::chrono::nanoseconds kNapFor = std::chrono::microseconds(50);
// More than a step takes that was begun before the end was known.
constexpr std::chrono::nanoseconds kTouchingFor = std::chrono::seconds(2);
// More than the kernel takes to end a process whose memory it has taken down.
constexpr std::chrono::nanoseconds kDyingFor = std::chrono::seconds(1);
// How long it takes at most until all know that a process has died.
constexpr std::chrono::nanoseconds kVerdictWithin = std::chrono::seconds(2);
// How long the reason that some rank has for ending a communicator takes to all others.
constexpr std::chrono::nanoseconds kNewsWithin = std::chrono::milliseconds(200);
// Looks after saying "I sleep" and before doing so, so that a signal sent in between is seen (see ring()).
constexpr int kLastLooks = 200;

std::string activity_of(const Side& side, const Operation& operation, Rank member) {
  const Channel& channel = operation.track().channel;
  if (!channel.is_remote(member)) return activity_text(operation, member);
  const std::string text = side.outside()->look_at(channel.peer(member).rank, collective_call_of(operation)).text;
  return text.empty() ? "has not answered what it is doing" : text;
}

// Somebody's memory is gone. Its locks, by which it is known to be dead, go a moment later.
Rank find_dead(const Channel& channel) {
  for (const Deadline deadline = Deadline::after(os::now(), kDyingFor); !deadline.has_passed(os::now());) {
    for (Rank member = 0; member < channel.size(); ++member) {
      if (!channel.peer(member).is_alive()) return member;
    }
    os::yield_core();
  }
  return kNoRank;
}

}  // namespace

Waiting::Waiting(std::span<const Pending> pending) : pending_(pending), start_(os::now()), moved_(start_) {
  std::chrono::nanoseconds timeout = std::chrono::nanoseconds::zero();
  for (const auto& [side, operation] : pending) {
    const auto own = operation->call().timeout;
    timeout = std::max(timeout, own.count() > 0 ? own : side->options().timeout);
    goes_on_yielding_ = goes_on_yielding_ && !side->is_crowded();
  }
  deadline_ = Deadline::after(start_, timeout);
}

bool Waiting::progress() {
  switch (phase_) {
    case Phase::running:
      if (are_done()) return conclude();
      if (const Side* ended = find_ended()) return fail(ended->why_ended());
      return false;
    case Phase::letting_go: return let_go();
    case Phase::ended: break;
  }
  return true;
}

void Waiting::look() {
  if (phase_ != Phase::running) return;
  // Somebody may have died after doing all that was asked of it.
  if (const Status cause = find_cause(); !cause && !are_done()) {
    fail(cause);
  } else {
    warn_of_late();
  }
}

Status Waiting::complete() {
  for (;;) {
    while (!has_stalled()) {
      for (int i = 0; i < kYieldsPerLook; ++i) {
        if (progress()) return status_;
        os::yield_core();
      }
    }
    if (progress()) return status_;
    look();
    if (progress()) return status_;
    sleep(Deadline::after(os::now(), kSleepFor));
  }
}

bool Waiting::are_done() const {
  bool is_done = true;
  for (const auto& [side, operation] : pending_) is_done = operation->progress() && is_done;
  return is_done;
}

// The same as far as ranks of this host go: of what comes over the network sleepers hear in time.
bool Waiting::look_here() const {
  bool is_done = true;
  for (const auto& [side, operation] : pending_) is_done = operation->progress_here() && is_done;
  return is_done;
}

bool Waiting::end(const Status& status) {
  status_ = status;
  phase_ = Phase::ended;
  return true;
}

// All have ended by themselves. One that failed after it had begun takes its communicator with it.
bool Waiting::conclude() {
  for (const auto& [side, operation] : pending_) {
    const Status status = operation->status();
    if (status) continue;
    if (!operation->has_entered()) return end(status);
    Channel& channel = operation->track().channel;
    const bool is_mismatch = status.code() == Code::invalid_usage && (channel.mismatch() || channel.find_mismatch());
    if (is_mismatch) {
      side->end(Code::invalid_usage, mismatch_text(*operation, *channel.mismatch()));
    } else if (const Rank dead = status.code() == Code::peer_lost ? find_dead(channel) : kNoRank; dead != kNoRank) {
      side->end(Code::peer_lost, waiting_text(*operation, dead, "has died", waited()));
    } else {
      side->end(status.code(), status.text());
    }
    return fail(side->why_ended());
  }
  return end({});
}

// Nothing more runs, and whoever waits for these calls elsewhere is told why.
bool Waiting::fail(const Status& why) {
  status_ = why;
  for (const auto& [side, operation] : pending_) {
    if (!operation->is_done()) side->end(why.code(), why.text());
    operation->give_up();
    if (side->has_ended()) status_ = side->why_ended();
  }
  const auto is_reached = [](const Pending& pending) { return pending.operation->is_reached(); };
  // All know that it is over. Now that they do, either this rank sees that another has entered, or that one sees it.
  if (std::any_of(pending_.begin(), pending_.end(), is_reached)) os::await_barrier_everywhere();
  touching_ = Deadline::after(os::now(), kTouchingFor);
  phase_ = Phase::letting_go;
  return let_go();
}

// The caller may free its buffers next: those who still work on them get the time to learn that it is over. One that
// is stopped does not, so the patience has an end.
bool Waiting::let_go() {
  for (const auto& [side, operation] : pending_) {
    const Rank member = operation->find_toucher();
    if (member == kNoRank || side->has_left(operation->track().channel.peer(member).rank)) continue;
    if (!touching_.has_passed(os::now())) return false;
  }
  for (const auto& [side, operation] : pending_) side->record_end();
  return end(status_);
}

std::uint64_t Waiting::steps() const {
  std::uint64_t steps = 0;
  for (const auto& [side, operation] : pending_) steps += operation->steps_done();
  return steps;
}

// Whether the last step was done too long ago for yielding. A long call is made of many short waits; where many ranks
// share a core, though, they had better sleep as soon as the call is a long one, than take turns at yielding.
bool Waiting::has_stalled() {
  const Time now = os::now();
  const std::uint64_t done = steps();
  if (std::exchange(steps_, done) != done) moved_ = now;
  return Deadline::after(goes_on_yielding_ ? moved_ : start_, kYieldFor).has_passed(now);
}

std::chrono::nanoseconds Waiting::waited() const { return std::chrono::nanoseconds(os::now().ns - start_.ns); }

const Side* Waiting::find_ended() const {
  for (const auto& [side, operation] : pending_) {
    if (side->has_ended()) return side;
  }
  return nullptr;
}

void Waiting::warn_of_late() {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    const auto limit = pending_[i].side->late_warning();
    if (!limit || waited() < *limit) continue;
    lateness_.resize(pending_.size());
    lateness_[i].look(*pending_[i].side, *pending_[i].operation, waited());
  }
}

// Success: waiting may still help.
Status Waiting::find_cause() const {
  for (const auto& [side, operation] : pending_) TUTTI_TRY(cause_of(*side, *operation));
  if (!deadline_.has_passed(os::now())) return {};
  for (const auto& [side, operation] : pending_) {
    if (operation->is_done()) continue;
    const Rank member = operation->blocked_on();
    const std::string activity = member == kNoRank ? "" : activity_of(*side, *operation, member);
    return {Code::timed_out, waiting_text(*operation, member, activity, waited())};
  }
  return {};
}

Status Waiting::cause_of(const Side& side, const Operation& operation) const {
  if (!operation.has_entered() || operation.is_done()) return {};
  Channel& channel = operation.track().channel;
  if (channel.find_mismatch()) return {Code::invalid_usage, mismatch_text(operation, *channel.mismatch())};
  for (Rank member = 0; member < channel.size(); ++member) {
    if (member == channel.self() || !operation.waits_for(member)) continue;
    const transport::Member& peer = channel.peer(member);
    const auto lost = [&](std::string_view how) {
      return Status(Code::peer_lost, waiting_text(operation, member, how, waited()));
    };
    if (peer.is_remote) {
      // News of its end may overtake what it sent before.
      const Standing standing = side.outside()->look_at(peer.rank, collective_call_of(operation));
      const bool is_over = standing.is_silent || channel.is_cut_off(member);
      const bool has_left = side.has_left(peer.rank) && channel.is_cut_off(member);
      if (!(standing.is_gone && is_over) && !has_left) {
        TUTTI_TRY(broken_link(operation, member));
      } else if (has_waited_for_news()) {
        return lost(standing.is_gone && is_over ? standing.text : "has left the communicator");
      }
      continue;
    }
    if (!peer.is_alive()) return lost("has died");
    // A process that is stopped has not died, but nothing is heard of it.
    if (side.outside() != nullptr && side.outside()->is_gone(peer.rank)) {
      const Standing standing = side.outside()->look_at(peer.rank, channel.call());
      if (standing.is_silent) return lost(standing.text);
    }
    if (side.has_left(peer.rank)) return lost("has left the communicator");
  }
  return {};
}

// Somebody is gone. If it was not the first to go, others are about to tell why all this has begun.
bool Waiting::has_waited_for_news() const {
  if (gone_since_.ns == 0) gone_since_ = os::now();
  return Deadline::after(gone_since_, kNewsWithin).has_passed(os::now());
}

// A connection has broken. Why will be known in a moment: then that is the reason.
Status Waiting::broken_link(const Operation& operation, Rank member) const {
  const Status failure = operation.track().channel.link_failure(member);
  if (failure) return {};
  if (broken_since_.ns == 0) broken_since_ = os::now();
  if (!Deadline::after(broken_since_, kVerdictWithin).has_passed(os::now())) return {};
  return {Code::peer_lost,
          waiting_text(operation, member, fmt::format("cannot be reached any more: {}", failure.text()), waited())};
}

// Whoever has news looks whether this rank sleeps, without a fence, since that would cost every message of every
// call. So the signal and the flag may cross: the last looks see nearly all of those, and the rest costs one short
// sleep. With several communicators only one bell can be slept on.
void Waiting::sleep(Deadline until) {
  for (const auto& [waiting, operation] : pending_) operation->record_waiting();
  Side& side = *pending_[0].side;
  const bool is_alone = std::all_of(pending_.begin(), pending_.end(), [&](const auto& p) { return p.side == &side; });
  Bell& bell = side.own_bell();
  bell.sleeping.fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t rings = bell.rings.load(std::memory_order_acquire);
  bool is_over = false;
  for (int i = 0; i < kLastLooks && !is_over; ++i) is_over = look_here() || find_ended() != nullptr;
  if (!is_over && waits_for_network()) {
    sleep_on_links(until);
  } else if (!is_over) {
    const Deadline wake = Deadline::after(os::now(), is_alone ? kSleepFor : kSleepForMany);
    os::futex_wait(bell.rings, rings, {std::min({wake.at, until.at, deadline_.at})});
  }
  bell.sleeping.fetch_sub(1, std::memory_order_relaxed);
}

// Whether something has to come from another host, or go there, before anything else can happen.
bool Waiting::waits_for_network() const {
  return std::any_of(pending_.begin(), pending_.end(), [](const Pending& pending) {
    const Channel& channel = pending.operation->track().channel;
    if (!channel.has_links() || pending.operation->is_done()) return false;
    if (!channel.are_links_flushed()) return true;
    for (Rank member = 0; member < channel.size(); ++member) {
      if (channel.is_remote(member) && pending.operation->waits_for(member)) return true;
    }
    return false;
  });
}

// What comes over the network wakes at once; signals of ranks of this host are looked for now and then, ever more
// rarely the longer nothing happens.
void Waiting::sleep_on_links(Deadline until) const {
  std::set<Side*> sides;
  std::vector<pollfd> polled;
  for (const auto& [side, operation] : pending_) {
    if (side->outside() == nullptr || !sides.insert(side).second) continue;
    Links& links = side->outside()->links();
    links.drop_unanswered();
    links.progress();
    links.add_to(polled);
  }
  const Time now = os::now();
  const std::chrono::nanoseconds quiet(now.ns - moved_.ns);
  const std::chrono::nanoseconds most(until.at.ns - std::min(now, until.at).ns);
  const auto patience = std::min(std::clamp<std::chrono::nanoseconds>(quiet / 16, kNapFor, kSleepFor), most);
  const timespec limit = {.tv_sec = 0, .tv_nsec = patience.count()};
  ::ppoll(polled.data(), polled.size(), &limit, nullptr);
}

Status complete(std::span<const Pending> pending) {
  if (pending.empty()) return {};
  Waiting waiting(pending);
  for (int i = 0; i < pending[0].side->polls(); ++i) {
    if (waiting.progress()) return waiting.status();
  }
  return waiting.complete();
}

Status Side::run(const Call& call) {
  if (has_ended()) [[unlikely]] {
    record_end();
    return why_ended();
  }
  if (is_nothing(call)) return {};
  if (call.collective != plan::Collective::send_receive) [[likely]] {
    Operation operation(*collective_, call);
    return complete(operation);
  }
  const Call between_two = local(call);
  Operation operation(track_of(call), between_two);
  return complete(operation);
}

Status Side::complete(Operation& operation) {
  for (int i = 0; i < polls_; ++i) {
    if (!operation.progress()) continue;
    if (operation.status()) [[likely]]
      return {};
    break;
  }
  const Pending one[] = {{this, &operation}};
  return Waiting(one).complete();
}

void Side::end(Code code, std::string_view why) noexcept {
  if (end_here(code, why) && outside_ != nullptr) outside_->spread_end(code, why);
}

// Whether the reason is there now; false: somebody is writing one.
bool Side::tell(Rank rank, Code code, const char* reason) const noexcept {
  Bell& bell = bell_of(rank);
  std::uint32_t alive = 0;
  if (!bell.ended.compare_exchange_strong(alive, kEnding, std::memory_order_acq_rel)) return alive == kEnded;
  std::memcpy(collective_->channel.block(rank).reason(), reason, transport::kReasonBytes);
  bell.ended_code.store(static_cast<std::uint32_t>(code), std::memory_order_relaxed);
  bell.ended.store(kEnded, std::memory_order_release);
  return true;
}

// The first reason of all ranks of a host wins: the block of the first of them says which it was. Then all are told.
bool Side::end_here(Code code, std::string_view why) noexcept {
  const Channel& channel = collective_->channel;
  Rank first = 0;
  while (!is_here(first)) ++first;
  const bool is_first = bell_of(first).ended.load(std::memory_order_acquire) == 0;
  char reason[transport::kReasonBytes] = {};
  std::memcpy(reason, why.data(), std::min(why.size(), sizeof(reason) - 1));
  // Whoever is writing there takes moments; if it was killed meanwhile, this reason does as well.
  for (int i = 0; i < kPatienceWithWriter && !tell(first, code, reason); ++i) os::yield_core();
  if (bell_of(first).ended.load(std::memory_order_acquire) == kEnded) {
    code = static_cast<Code>(bell_of(first).ended_code.load(std::memory_order_relaxed));
    std::memcpy(reason, channel.block(first).reason(), sizeof(reason));
    reason[sizeof(reason) - 1] = 0;
  }
  for (Rank rank = 0; rank < size(); ++rank) {
    if (is_here(rank)) tell(rank, code, reason);
  }
  for (Rank rank = 0; rank < size(); ++rank) {
    if (is_here(rank)) channel.wake(rank);
  }
  return is_first;
}

void Side::record_end() const noexcept {
  if (!has_ended()) return;
  const char* reason = collective_->channel.mine().reason();
  const auto code = static_cast<Code>(own_bell().ended_code.load(std::memory_order_relaxed));
  recorder_->end(code, {reason, strnlen(reason, transport::kReasonBytes)});
}

Status Side::why_ended() const {
  if (!has_ended()) return {};
  const Channel& channel = collective_->channel;
  const char* reason = channel.mine().reason();
  const auto code = own_bell().ended_code.load(std::memory_order_relaxed);
  return {static_cast<Code>(code), std::string(reason, strnlen(reason, transport::kReasonBytes)), Scope::communicator};
}

}  // namespace tutti::comm

#include "comm/operation.h"

#include <algorithm>

#include "device/host/heap.h"

namespace tutti::comm {

using transport::Channel;
using transport::Tag;

namespace {

// A buffer as others find it: an offset in the heap where they have it mapped, an address otherwise.
struct Reference {
  std::uint64_t at = 0;
  bool is_reachable = false;
};

Reference reference_to(const void* data, std::uint64_t bytes, std::uint64_t shift) {
  const device::Heap* heap = device::Heap::existing();
  const auto offset = heap != nullptr ? heap->offset_of(data, bytes) : std::nullopt;
  if (offset) return {*offset - shift, true};
  return {reinterpret_cast<std::uintptr_t>(data) - shift, bytes == 0};
}

}  // namespace

bool Operation::progress() {
  if (track_.channel.has_links() && phase_ != Phase::turn) track_.channel.progress_links();
  return advance();
}

bool Operation::advance() {
  switch (phase_) {
    case Phase::turn:
      if (!track_.turn.is_served(number_)) return false;
      if (begin()) return true;
      return advance();
    case Phase::facts:
      if (!learn_facts()) return phase_ == Phase::ended;
      return advance();
    case Phase::flash:
      if (!flash_->progress()) {
        // What others wait for is on its way, so there is time now.
        if (!line_) record(watch::CallState::running);
        return false;
      }
      return end(flash_->status());
    case Phase::run:
      if (!run_->progress()) return false;
      if (!run_->status() || !track_.channel.has_links()) return end(run_->status());
      phase_ = Phase::flush;
      [[fallthrough]];
    case Phase::flush:
      // What was sent may lie in the caller's buffers, or in places that the next call uses.
      if (!track_.channel.are_links_flushed()) return false;
      return end({});
    case Phase::barred: return false;
    case Phase::ended: return true;
  }
  return true;
}

// True when it ended here.
bool Operation::begin() {
  Track& track = track_;
  const CallKey key = key_of(call_);
  decision_ = track.decisions.find(key);
  if (decision_ == nullptr) {
    track.last = nullptr;  // older decisions may go
    const auto added = track.decisions.add(track.context, call_, track.workspace, track.own_bytes());
    if (!added) {
      decision_ = nullptr;
      return end(added.status());
    }
    decision_ = *added;
    if (const Status opened = open_links(); !opened) {
      decision_ = nullptr;
      return end(opened);
    }
  }
  const Decision& decision = *decision_;
  const auto in_address = reinterpret_cast<std::uintptr_t>(call_.in) - decision.in_shift;
  const auto out_address = reinterpret_cast<std::uintptr_t>(call_.out) - decision.out_shift;
  transport::Entry entry{.fingerprint = decision.fingerprint,
                         .facts = in_address == out_address ? Tag::kInPlace : 0,
                         .in = in_address,
                         .out = out_address,
                         .factor = call_.reduction.factor,
                         .count = key.count,
                         .what = key.what,
                         .detail = key.detail};
  if (!track.context.is_one_process && !decision.is_flash) {
    const Reference in = reference_to(call_.in, decision.in_bytes, decision.in_shift);
    const Reference out = reference_to(call_.out, decision.out_bytes, decision.out_shift);
    entry.in = in.at;
    entry.out = out.at;
    entry.facts |= (in.is_reachable ? Tag::kReachesIn : 0) | (out.is_reachable ? Tag::kReachesOut : 0);
  }
  own_facts_ = entry.facts;
  track.channel.set_own_place({.in = reinterpret_cast<std::byte*>(in_address),
                               .out = reinterpret_cast<std::byte*>(out_address),
                               .factor = call_.reduction.factor});
  track.channel.enter(entry);
  if (!decision.is_flash) track.channel.ring_all();  // a flash rings when it publishes
  has_entered_ = true;
  entered_ = track.channel.call();
  // A flash is recorded once it has sent what it has to send. A custom operation may never return.
  if (!decision.is_flash || call_.reduction.custom != nullptr) record(watch::CallState::entered);
  choose_phase();
  return false;
}

void Operation::choose_phase() {
  Track& track = track_;
  const Decision& decision = *decision_;
  // Whoever leaves a communicator that has ended waits for those who it sees have entered. One that enters later must
  // not touch its buffers: see Waiting::fail for the other half.
  const bool has_ended = track.channel.mine().bell().ended.load(std::memory_order_acquire) != 0;
  if (has_ended && reaches_others()) [[unlikely]] {
    phase_ = Phase::barred;
  } else if (decision.is_flash) {
    flash_.emplace(track.channel, track.workspace, *decision.fallback, call_.reduction.custom);
    track.last = decision.fallback.get();
    phase_ = Phase::flash;
  } else if (decision.preferred == nullptr) {
    launch(*decision.fallback);
  } else {
    phase_ = Phase::facts;
  }
}

Status Operation::open_links() {
  if (!track_.open_links) return {};
  for (const auto& launch : {decision_->preferred, decision_->fallback}) {
    if (launch != nullptr) TUTTI_TRY(track_.open_links(launch->prepared->partners));
  }
  return {};
}

// True when they are known. One fact that is missing decides: nobody needs to be asked after that.
bool Operation::learn_facts() {
  const Decision& decision = *decision_;
  const auto allows = [&](Rank rank, std::uint32_t facts) {
    const std::uint32_t needed = decision.needed[static_cast<std::size_t>(rank)];
    return (facts & needed) == needed && (decision.preferred_runs_in_place || (facts & Tag::kInPlace) == 0);
  };
  Channel& channel = track_.channel;
  bool is_allowed = true;
  const auto& asked = decision.asked;
  for (const Rank rank : asked) {
    if (rank == channel.self()) is_allowed = allows(rank, own_facts_);
  }
  for (; is_allowed && asked_ < asked.size(); ++asked_) {
    const Rank rank = asked[asked_];
    if (rank == channel.self()) continue;
    if (!channel.has_entered(rank)) {
      blocked_on_ = rank;
      return false;
    }
    const auto tag = channel.meet(rank);
    if (!tag) {
      end(Status(Code::invalid_usage, "the calls differ"));
      return false;
    }
    is_allowed = allows(rank, tag->facts());
  }
  launch(is_allowed ? *decision.preferred : *decision.fallback);
  return true;
}

void Operation::launch(const engine::Launch& launch) {
  const CustomOperation* custom = launch.elements.is_custom ? call_.reduction.custom : nullptr;
  run_.emplace(track_.channel, track_.workspace, launch, custom);
  track_.last = &launch;
  line_.set_running(&launch == decision_->preferred.get() ? decision_->preferred_index : decision_->fallback_index);
  phase_ = Phase::run;
}

bool Operation::end(Status status) {
  status_ = std::move(status);
  if (has_entered()) {
    if (!status_) track_.channel.abandon_links();
    track_.channel.leave();  // also after a failure: this rank touches nobody's buffers any more
  }
  record_end(status_ ? watch::CallState::done : watch::CallState::failed);
  pass_turn();
  return true;
}

// The next call of this rank may sleep in another thread.
void Operation::pass_turn() {
  phase_ = Phase::ended;
  track_.turn.pass();
  track_.channel.ring(track_.channel.self());
}

void Operation::give_up() {
  if (phase_ == Phase::ended) return;
  record_end(watch::CallState::failed);
  // The number was not served yet: whoever is before it passes the turn on, and it must be passed further.
  if (phase_ == Phase::turn && !track_.turn.is_served(number_)) return;
  if (has_entered()) {
    track_.channel.abandon_links();
    track_.channel.leave();
  }
  pass_turn();
}

void Operation::record(watch::CallState state) {
  if (track_.log.recorder == nullptr) return;
  watch::CallFacts facts{.turn = number_};
  if (decision_ != nullptr) {
    facts.key = decision_->key;
    facts.bytes = std::max(decision_->in_bytes, decision_->out_bytes);
    facts.plan = decision_->is_flash ? decision_->fallback_index : 0;
  } else {
    facts.key = key_of(call_);
  }
  if (has_entered_) facts.number = entered_;
  line_ = track_.log.recorder->begin(track_.log.track, facts, state, line_);
}

void Operation::record_end(watch::CallState how) {
  const bool is_far = phase_ == Phase::turn && track_.turn.ahead_of(number_) >= watch::kRing;
  if (!line_ && !is_far) record(how);
  line_.end(how, decision_ != nullptr && decision_->is_flash);
}

void Operation::record_waiting() {
  if (phase_ == Phase::ended) return;
  if (!line_ && phase_ == Phase::turn && track_.turn.ahead_of(number_) < watch::kRing) {
    record(watch::CallState::queued);
  }
  const Rank member = blocked_on();
  line_.set_waits_for(member == kNoRank ? kNoRank : track_.channel.peer(member).rank);
}

Rank Operation::blocked_on() const {
  switch (phase_) {
    case Phase::flash: return flash_->blocked_on();
    case Phase::run:
      for (const Rank member : run_->blocked_on()) {
        if (member != kNoRank) return member;
      }
      break;
    case Phase::facts: return blocked_on_;
    case Phase::flush: return track_.channel.find_unflushed();
    case Phase::turn:
    case Phase::barred:
    case Phase::ended: break;
  }
  return kNoRank;
}

bool Operation::waits_for(Rank member) const {
  if (phase_ != Phase::run) return blocked_on() == member;
  const auto members = run_->blocked_on();
  return std::find(members.begin(), members.end(), member) != members.end();
}

bool Operation::is_reached() const {
  if (!has_entered_ || decision_->is_flash) return false;
  const auto self = static_cast<std::size_t>(track_.channel.self());
  const auto reaches = [&](const auto& launch) { return launch != nullptr && launch->prepared->reached[self] != 0; };
  return reaches(decision_->preferred) || reaches(decision_->fallback);
}

bool Operation::reaches_others() const {
  for (const auto& launch : {decision_->preferred, decision_->fallback}) {
    if (launch == nullptr || decision_->is_flash) continue;
    const auto& reached = launch->prepared->reached;
    for (std::size_t rank = 0; rank < reached.size(); ++rank) {
      if (rank != static_cast<std::size_t>(track_.channel.self()) && reached[rank] != 0) return true;
    }
  }
  return false;
}

Rank Operation::find_toucher() const {
  if (!is_reached()) return kNoRank;
  const Channel& channel = track_.channel;
  for (Rank member = 0; member < channel.size(); ++member) {
    const transport::Block& block = channel.block(member);
    const std::uint32_t begun = Tag{block.head().tag.load(std::memory_order_acquire)}.call();
    const std::uint32_t done = block.progress().calls_done.load(std::memory_order_acquire);
    if (member == channel.self() || channel.is_remote(member) || !transport::has_reached(begun, entered_)) continue;
    if (!transport::has_reached(done, entered_) && channel.peer(member).is_alive()) return member;
  }
  return kNoRank;
}

}  // namespace tutti::comm

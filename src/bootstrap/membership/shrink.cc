#include "bootstrap/membership/shrink.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "bootstrap/exchange.h"

namespace tutti::bootstrap {
namespace {

using namespace std::chrono_literals;

// All have to fit into five seconds twice over, since a coordinator may die in the last moment of its round.
constexpr std::chrono::nanoseconds kRepeat = 200ms;
constexpr std::chrono::nanoseconds kCoordinatorSilence = 500ms;  // then somebody else begins
constexpr std::chrono::nanoseconds kStagger = 250ms;         // from one rank to the next, so that one of them is first
constexpr int kStaggered = 4;                                // the others draw, because thousands cannot wait in a row
constexpr std::chrono::nanoseconds kPatience = 1500ms;       // for promises of those who say nothing
constexpr std::chrono::nanoseconds kAcceptPatience = 600ms;  // for acceptances that are not needed

Time later(Time time, std::chrono::nanoseconds span) { return Deadline::after(time, span).at; }

// Lists ascend, so the last rank decides.
bool are_ranks(const RankList& ranks, const Roster& roster) { return ranks.empty() || ranks.back() < roster.size(); }

}  // namespace

bool may_decide(const std::set<Rank>& ranks, Rank size, const std::set<Rank>& certain) {
  bool is_all = true;
  for (Rank rank = 0; rank < size; ++rank) is_all = is_all && (ranks.contains(rank) || certain.contains(rank));
  const auto twice = 2 * ranks.size();
  const auto all = static_cast<std::size_t>(size);
  return is_all || twice > all || (twice == all && ranks.contains(0));
}

RankList Shrink::certain_list() const { return {side_.certain().begin(), side_.certain().end()}; }

std::set<Rank> Shrink::alive() const {
  std::set<Rank> alive;
  for (Rank rank = 0; rank < roster_.size(); ++rank)
    if (!side_.certain().contains(rank)) alive.insert(rank);
  return alive;
}

void Shrink::call(Deadline deadline) {
  is_called_ = true;
  called_ = world_.now();
  deadline_ = deadline;
  repeat_at_ = called_;
  standing_.reset();
  phase_ = Phase::waiting;
  bool is_first = promised_ == Ballot();  // nobody has been heard to coordinate
  for (Rank rank = 0; rank < self_; ++rank) is_first = is_first && side_.certain().contains(rank);
  wait_for_coordinator();
  if (is_first) begin_at_ = called_;
}

void Shrink::wait_for_coordinator() {
  int before = 0;
  for (Rank rank = 0; rank < self_ && before < kStaggered; ++rank)
    if (!side_.certain().contains(rank) && !side_.is_silent(rank)) ++before;
  auto wait = kCoordinatorSilence + before * kStagger;
  if (before >= kStaggered)
    wait += std::chrono::nanoseconds(world_.random() % static_cast<std::uint64_t>((4 * kStagger).count()));
  begin_at_ = later(world_.now(), wait);
}

// Somebody with that ballot coordinates, so this rank does not.
void Shrink::coordinator_is(Ballot ballot) {
  attempt_seen_ = std::max(attempt_seen_, ballot.attempt);
  if (ballot.rank == self_) return;
  phase_ = Phase::waiting;
  wait_for_coordinator();
}

void Shrink::hear(Rank from, const MemberBody& body) {
  if (const auto* prepare = std::get_if<Prepare>(&body)) take(from, *prepare);
  if (const auto* promise = std::get_if<Promise>(&body)) take(from, *promise);
  if (const auto* not_called = std::get_if<NotCalled>(&body)) take(from, *not_called);
  if (const auto* outvoted = std::get_if<Outvoted>(&body)) take(from, *outvoted);
  if (const auto* accept = std::get_if<Accept>(&body)) take(from, *accept);
  if (const auto* accepted = std::get_if<Accepted>(&body)) take(from, *accepted);
  if (const auto* standing = std::get_if<Standing>(&body)) take(from, *standing);
}

void Shrink::take(Rank from, const Prepare& prepare) {
  side_.learn_certain(prepare.certain, from);
  if (prepare.ballot.rank != from) return;
  if (!is_called_) return side_.tell(from, NotCalled{prepare.ballot});
  if (prepare.ballot < promised_) return side_.tell(from, Outvoted{prepare.ballot, promised_});
  promised_ = prepare.ballot;
  coordinator_is(prepare.ballot);
  side_.tell(from, Promise{prepare.ballot, accepted_, survivors_, certain_list()});
}

void Shrink::take(Rank from, const Promise& promise) {
  side_.learn_certain(promise.certain, from);
  if (phase_ != Phase::preparing || promise.ballot != ballot_ || !are_ranks(promise.survivors, roster_)) return;
  promises_[from] = promise;
  not_called_.erase(from);
  look();
}

void Shrink::take(Rank from, const NotCalled& not_called) {
  if (phase_ == Phase::preparing && not_called.ballot == ballot_) not_called_[from] = world_.now();
}

void Shrink::take(Rank, const Outvoted& outvoted) {
  attempt_seen_ = std::max(attempt_seen_, outvoted.promised.attempt);
  if (phase_ != Phase::waiting && outvoted.ballot == ballot_) coordinator_is(outvoted.promised);
}

void Shrink::take(Rank from, const Accept& accept) {
  side_.learn_certain(accept.certain, from);
  if (accept.ballot.rank != from || !are_ranks(accept.survivors, roster_)) return;
  if (!is_called_) return side_.tell(from, NotCalled{accept.ballot});
  if (accept.ballot < promised_) return side_.tell(from, Outvoted{accept.ballot, promised_});
  promised_ = accepted_ = accept.ballot;
  survivors_ = accept.survivors;
  coordinator_is(accept.ballot);
  side_.tell(from, Accepted{accept.ballot, static_cast<std::uint32_t>(accept.certain.size())});
}

void Shrink::take(Rank from, const Accepted& accepted) {
  if (phase_ != Phase::accepting || accepted.ballot != ballot_ || accepted.certain_count != certain_sent_) return;
  acceptors_.insert(from);
  look();
}

void Shrink::take(Rank from, const Standing& standing) {
  const bool is_sound = are_ranks(standing.not_called, roster_) && are_ranks(standing.unreached, roster_);
  if (standing.ballot.rank != from || standing.ballot < promised_ || !is_sound) return;
  standing_ = standing;
  coordinator_is(standing.ballot);
}

void Shrink::begin_round() {
  attempt_seen_ = std::max(attempt_seen_, promised_.attempt) + 1;
  ballot_ = promised_ = {attempt_seen_, self_};
  phase_ = Phase::preparing;
  phase_began_ = world_.now();
  not_called_.clear();
  promises_.clear();
  promises_[self_] = {ballot_, accepted_, survivors_, {}};
  repeat_at_ = phase_began_;
}

void Shrink::repeat() {
  repeat_at_ = later(world_.now(), kRepeat);
  if (phase_ == Phase::preparing) {
    const Prepare prepare{ballot_, certain_list()};
    const Standing now = standing();
    for (const Rank rank : alive()) {
      if (rank == self_) continue;
      if (promises_.contains(rank))
        side_.tell(rank, now);
      else
        side_.tell(rank, prepare);
    }
  }
  if (phase_ == Phase::accepting) send_accept();
}

void Shrink::look() {
  if (!is_called_) return;
  const Time now = world_.now();
  if (deadline_.has_passed(now)) {
    const Status why = too_late();
    is_called_ = false;
    phase_ = Phase::waiting;
    return side_.failed(why);
  }
  if (phase_ == Phase::waiting && now >= begin_at_) begin_round();
  if (now >= repeat_at_) repeat();
  if (phase_ == Phase::preparing) look_at_promises();
  if (phase_ == Phase::accepting) look_at_acceptances();
}

void Shrink::look_at_promises() {
  const Time now = world_.now();
  std::set<Rank> promisers;
  bool is_complete = true;
  bool has_living = false;  // somebody who lives and has not called
  for (const auto& [rank, promise] : promises_) promisers.insert(rank);
  for (const Rank rank : alive()) {
    if (promisers.contains(rank)) continue;
    is_complete = false;
    const auto heard = not_called_.find(rank);
    if (heard != not_called_.end() && now < later(heard->second, kPatience)) has_living = true;
  }
  const bool is_patient = now < later(phase_began_, kPatience);
  if (is_complete || (!is_patient && !has_living && may_decide(promisers, roster_.size(), side_.certain()))) propose();
}

void Shrink::propose() {
  const Promise* latest = nullptr;
  value_.clear();
  for (const auto& [rank, promise] : promises_) {
    if (promise.accepted != Ballot() && (latest == nullptr || latest->accepted < promise.accepted)) latest = &promise;
    if (!side_.certain().contains(rank)) value_.push_back(rank);
  }
  // What somebody has accepted may have been decided without this rank knowing it.
  if (latest != nullptr) value_ = latest->survivors;
  phase_ = Phase::accepting;
  phase_began_ = world_.now();
  send_accept();
}

void Shrink::send_accept() {
  if (acceptors_.empty() || accepted_ != ballot_ || certain_sent_ != side_.certain().size()) acceptors_ = {self_};
  accepted_ = ballot_;
  survivors_ = value_;
  certain_sent_ = side_.certain().size();
  const Accept accept{ballot_, value_, certain_list()};
  for (const auto& [rank, promise] : promises_)
    if (!acceptors_.contains(rank) && !side_.certain().contains(rank)) side_.tell(rank, accept);
}

void Shrink::look_at_acceptances() {
  const Time now = world_.now();
  if (certain_sent_ != side_.certain().size()) send_accept();
  const bool is_complete = std::ranges::all_of(promises_, [&](const auto& promise) {
    return acceptors_.contains(promise.first) || side_.certain().contains(promise.first);
  });
  const bool is_decided = may_decide(acceptors_, roster_.size(), side_.certain());
  if (is_decided && (is_complete || now >= later(phase_began_, kAcceptPatience))) return announce();
  if (now >= later(phase_began_, kPatience)) begin_round();
}

void Shrink::announce() {
  Chosen chosen;
  for (const Rank rank : value_) {
    const ActorId actor = roster_.ranks[static_cast<std::size_t>(rank)].contact.id;
    chosen.survivors.push_back(actor);
    if (side_.certain().contains(rank)) chosen.ended.push_back(actor);
  }
  for (const Rank rank : followers()) side_.tell(rank, chosen);
  phase_ = Phase::waiting;
  side_.decided(chosen);
}

std::set<Rank> Shrink::followers() const {
  std::set<Rank> followers = phase_ == Phase::waiting ? std::set<Rank>() : alive();
  followers.erase(self_);
  return followers;
}

Time Shrink::next() const {
  Time next = std::min(deadline_.at, repeat_at_);
  if (phase_ == Phase::waiting) next = std::min(deadline_.at, begin_at_);
  return next;
}

Standing Shrink::standing() const {
  Standing standing{ballot_, {}, {}};
  for (const Rank rank : alive()) {
    if (rank == self_ || promises_.contains(rank)) continue;
    const auto heard = not_called_.find(rank);
    const bool is_living = heard != not_called_.end() && world_.now() < later(heard->second, kPatience);
    (is_living ? standing.not_called : standing.unreached).push_back(rank);
  }
  return standing;
}

Status Shrink::too_late() const {
  const Standing now = phase_ == Phase::waiting && standing_ ? *standing_ : standing();
  const std::string waited =
      text::seconds_text(static_cast<double>(world_.now().ns - std::min(called_, world_.now()).ns) * 1e-9);
  const bool is_known = standing_ || !promises_.empty();
  if (!now.not_called.empty())
    return {Code::timed_out,
            fmt::format("shrink waited {} for {} of {}, which {} but {} not called it; call shrink on every rank that "
                        "is to go on",
                        waited, ranks_text(now.not_called), roster_.size(),
                        now.not_called.size() == 1 ? "lives" : "live", now.not_called.size() == 1 ? "has" : "have"),
            Scope::communicator};
  if (is_known && !now.unreached.empty())
    return {Code::network,
            fmt::format("{} is cut off from the majority: {} of {} could not be reached within {}; end this process, "
                        "the others go on without it",
                        rank_text(roster_, self_), ranks_text(now.unreached), roster_.size(), waited),
            Scope::communicator};
  return {Code::timed_out,
          fmt::format("{} of {} ranks could not agree on who is left within {}; call shrink again",
                      rank_text(roster_, self_), roster_.size(), waited),
          Scope::communicator};
}

}  // namespace tutti::bootstrap

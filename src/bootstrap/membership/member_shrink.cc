// From one epoch of a member to the next.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bootstrap/exchange.h"
#include "bootstrap/membership/member.h"

namespace tutti::bootstrap {

void Member::shrink(Deadline deadline, ShrinkSink sink) {
  if (is_over()) return sink(over_);
  if (shrink_sink_)
    return sink(Status(Code::invalid_usage, "this rank shrinks already; wait for the first call", Scope::communicator));
  shrink_sink_ = std::move(sink);
  shrink_->call(deadline);
  wake_in_time();
}

void Member::learn_certain(const RankList& ranks, Rank by) {
  for (const Rank rank : ranks)
    if (rank < roster_.size() && rank != self_ && !certain_.contains(rank))
      note_gone({rank, GoneKind::dead, by, "its process has ended"}, by);
}

void Member::failed(Status why) {
  if (const auto sink = std::exchange(shrink_sink_, nullptr)) sink(std::move(why));
}

void Member::decided(const Chosen& chosen) { follow(roster_.epoch, chosen); }

// Whoever speaks of an epoch that is over has missed what was decided then.
void Member::answer_stranger(ActorId from, std::uint64_t epoch) {
  if (epoch >= roster_.epoch || !decision_) return;
  world_.send({from, {}}, encode(*decision_));
  world_.forget(from);
}

void Member::answer_other_epoch(Rank from, std::uint64_t epoch) {
  if (epoch > roster_.epoch) return tell(from, Heartbeat{});  // this rank has missed it, and gets it in return
  if (!decision_) return;
  if (!edges_.contains(from)) guests_[from] = world_.now();
  world_.send(contact_of(from), encode(*decision_));
}

void Member::follow(std::uint64_t epoch, const Chosen& chosen) {
  if (epoch < roster_.epoch) return;
  // Those who left the word to this rank would not ask others for long.
  for (const Rank rank : shrink_->followers()) send(rank, {epoch, chosen});
  const bool is_in = std::ranges::count(chosen.survivors, contact_of(self_).id) == 1;
  if (!is_in) return put_out(chosen);
  Roster next{.epoch = epoch + 1, .ranks = {}};
  Rank last = kNoRank;
  for (const ActorId actor : chosen.survivors) {
    const auto found = rank_of_.find(actor);
    if (found == rank_of_.end() || found->second <= last) return;  // nobody who agreed with us says such things
    last = found->second;
    next.ranks.push_back(roster_.ranks[static_cast<std::size_t>(last)]);
  }
  if (!shrink_sink_) {
    unasked_ = MemberMessage{epoch, chosen};
    return;
  }
  decision_ = MemberMessage{epoch, chosen};
  unasked_.reset();
  install(std::move(next), chosen.ended);
}

void Member::install(Roster roster, const std::vector<ActorId>& ended) {
  const ActorId self = contact_of(self_).id;
  const Deadline deadline = shrink_->deadline();
  std::vector<std::pair<ActorId, Gone>> known;
  for (const Rank rank : certain_) known.emplace_back(contact_of(rank).id, gone_.at(rank));
  for (const ActorId actor : ended) known.emplace_back(actor, Gone{0, GoneKind::dead, 0, "its process has ended"});
  std::set<ActorId> before;
  for (const auto& [rank, edge] : edges_) before.insert(contact_of(rank).id);
  for (const auto& [rank, used] : guests_) before.insert(contact_of(rank).id);
  roster_ = std::move(roster);
  self_ = roster_.rank_of(self);
  begin_epoch();
  for (const ActorId actor : before) {
    const auto found = rank_of_.find(actor);
    if (found == rank_of_.end() || !edges_.contains(found->second)) world_.forget(actor);
  }
  fail_questions([](const Asked&) { return true; },
                 [&](const Asked& asked) {
                   return Status(Code::aborted, fmt::format("a question to rank {} had no answer when the ranks were "
                                                            "renumbered; ask again",
                                                            asked.rank));
                 });
  for (auto& [actor, gone] : known)
    if (const auto found = rank_of_.find(actor); found != rank_of_.end())
      note_gone({found->second, gone.kind, self_, std::move(gone.reason)}, kNoRank);
  if (!ended.empty()) return shrink_->call(deadline);  // all who hear this decision go on at once
  deliver();
}

void Member::deliver() {
  owner_epoch_ = roster_.epoch;
  const std::map<Rank, Gone> gone = gone_;
  std::exchange(shrink_sink_, nullptr)(Joined{roster_, self_});
  for (const auto& [rank, what] : gone)
    if (!is_over() && owner_knows()) owner_.on_gone({rank, what.kind, what.by, sentence_of(what)});
}

void Member::put_out(const Chosen& chosen) {
  RankList others;
  for (const ActorId actor : chosen.survivors)
    if (const auto found = rank_of_.find(actor); found != rank_of_.end()) others.push_back(found->second);
  for (const auto& [rank, edge] : edges_) world_.forget(contact_of(rank).id);
  over_ = {Code::aborted,
           fmt::format("{} was left out: {} of {} could not reach it and went on without it; end this process",
                       rank_text(roster_, self_), ranks_text(others), roster_.size()),
           Scope::communicator};
  fail_questions([](const Asked&) { return true; }, [&](const Asked&) { return over_; });
  for (const auto& [name, circle] : circles_) circle->end(over_);
  if (const auto sink = std::exchange(shrink_sink_, nullptr)) return sink(over_);
  owner_.on_gone({self_, GoneKind::silent, others.empty() ? self_ : others.front(), std::string(over_.text())});
}

void Member::shrink_circle(std::uint64_t name, const Roster& roster, Deadline deadline, ShrinkSink sink) {
  if (is_over()) return sink(over_);
  auto& circle = circles_[name];
  Circle::Host& host = *this;
  if (circle == nullptr) circle = std::make_unique<Circle>(world_, host, name, roster, contact_of(self_).id);
  circle->shrink(deadline, std::move(sink));
  wake_in_time();
}

void Member::hear_in_circle(ActorId from, const MemberMessage& message) {
  if (const auto found = circles_.find(message.circle); found != circles_.end()) {
    found->second->hear(from, message);
    if (!is_over()) wake_in_time();
    return;
  }
  const MemberBody& body = message.body;
  if (const auto* prepare = std::get_if<Prepare>(&body))
    tell_actor(from, {message.epoch, NotCalled{prepare->ballot}, message.circle});
}

void Member::tell_actor(ActorId to, MemberMessage message) {
  // Others have ended, or the job went on without them.
  if (const auto found = rank_of_.find(to); found != rank_of_.end() && !certain_.contains(found->second))
    send(found->second, message);
}

bool Member::is_silent(ActorId actor) const {
  const auto found = rank_of_.find(actor);
  return found == rank_of_.end() || is_silent(found->second);
}

void Member::learn_ended(ActorId actor, ActorId by) {
  const auto found = rank_of_.find(actor);
  if (found == rank_of_.end()) return note_ended(actor);
  const auto witness = rank_of_.find(by);
  const Rank by_rank = witness == rank_of_.end() ? self_ : witness->second;
  if (!certain_.contains(found->second))
    note_gone({found->second, GoneKind::dead, by_rank, "its process has ended"}, by_rank);
}

void Member::note_ended(ActorId actor) {
  ended_.insert(actor);
  for (const auto& [name, circle] : circles_) circle->note_ended(actor);
}

}  // namespace tutti::bootstrap

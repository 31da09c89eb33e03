#include "bootstrap/membership/circle.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "bootstrap/exchange.h"

namespace tutti::bootstrap {

Circle::Circle(World& world, Host& host, std::uint64_t name, Roster roster, ActorId self)
    : world_(world), host_(host), name_(name), self_(self) {
  begin_epoch(std::move(roster));
}

void Circle::begin_epoch(Roster roster) {
  roster_ = std::move(roster);
  certain_.clear();
  for (Rank rank = 0; rank < roster_.size(); ++rank)
    if (host_.has_ended(actor_of(rank))) certain_.insert(rank);
  Shrink::Side& side = *this;
  former_ = std::exchange(shrink_, std::make_unique<Shrink>(world_, side, roster_, roster_.rank_of(self_)));
}

void Circle::shrink(Deadline deadline, Sink sink) {
  if (!over_ || sink_) {
    return sink(
        over_ ? Status(Code::invalid_usage, "this rank shrinks already; wait for the first call", Scope::communicator)
              : over_);
  }
  sink_ = std::move(sink);
  shrink_->call(deadline);
}

void Circle::hear(ActorId from, const MemberMessage& message) {
  if (!over_) return;
  const Rank rank = roster_.rank_of(from);
  if (const auto* chosen = std::get_if<Chosen>(&message.body)) {
    if (rank != kNoRank) follow(message.epoch, *chosen);
  } else if (message.epoch < roster_.epoch) {
    tell_decision(from);
  } else if (message.epoch > roster_.epoch) {
    // This rank has missed a decision, and gets it in return.
    host_.tell_actor(from, {roster_.epoch, Heartbeat{}, name_});
  } else if (rank != kNoRank) {
    shrink_->hear(rank, message.body);
  }
  former_.reset();
}

void Circle::note_ended(ActorId actor) {
  if (const Rank rank = roster_.rank_of(actor); rank != kNoRank) certain_.insert(rank);
}

void Circle::look() {
  if (unasked_ && sink_) {
    const MemberMessage decision = *std::exchange(unasked_, std::nullopt);
    follow(decision.epoch, std::get<Chosen>(decision.body));
  }
  if (over_) shrink_->look();
  former_.reset();
}

Time Circle::next() const {
  if (!over_) return Deadline::never().at;
  if (unasked_ && sink_) return world_.now();
  return shrink_->is_called() ? shrink_->next() : Deadline::never().at;
}

void Circle::end(const Status& why) {
  over_ = why;
  failed(why);
}

void Circle::tell(Rank rank, MemberBody body) {
  host_.tell_actor(actor_of(rank), {roster_.epoch, std::move(body), name_});
}

void Circle::learn_certain(const RankList& ranks, Rank by) {
  for (const Rank rank : ranks)
    if (rank < roster_.size() && actor_of(rank) != self_ && !certain_.contains(rank))
      host_.learn_ended(actor_of(rank), actor_of(by));
}

void Circle::failed(Status why) {
  if (const auto sink = std::exchange(sink_, nullptr)) sink(std::move(why));
}

void Circle::tell_decision(ActorId to) {
  if (decision_) host_.tell_actor(to, *decision_);
}

void Circle::follow(std::uint64_t epoch, const Chosen& chosen) {
  if (epoch < roster_.epoch) return;
  Roster next{.epoch = epoch + 1, .ranks = {}};
  RankList survivors;
  for (const ActorId actor : chosen.survivors) {
    const Rank rank = roster_.rank_of(actor);
    if (rank == kNoRank || (!survivors.empty() && rank <= survivors.back())) return;  // nobody who agreed says that
    survivors.push_back(rank);
    next.ranks.push_back(roster_.ranks[static_cast<std::size_t>(rank)]);
  }
  // Those who left the word to this rank would not ask others for long.
  for (const Rank rank : shrink_->followers()) host_.tell_actor(actor_of(rank), {epoch, chosen, name_});
  if (next.rank_of(self_) == kNoRank) {
    return end({Code::aborted,
                fmt::format("{} was left out: {} of {} could not reach it and went on without it; make no more calls "
                            "on this communicator",
                            rank_text(roster_, roster_.rank_of(self_)), ranks_text(survivors), roster_.size()),
                Scope::communicator});
  }
  if (!sink_) {
    unasked_ = MemberMessage{epoch, chosen, name_};
    return;
  }
  decision_ = MemberMessage{epoch, chosen, name_};
  unasked_.reset();
  const Deadline deadline = shrink_->deadline();
  begin_epoch(std::move(next));
  for (const ActorId actor : chosen.ended)
    if (actor != self_) host_.learn_ended(actor, self_);
  if (!chosen.ended.empty()) return shrink_->call(deadline);  // all who hear this decision go on at once
  std::exchange(sink_, nullptr)(Joined{roster_, roster_.rank_of(self_)});
}

}  // namespace tutti::bootstrap

#include "bootstrap/membership/member.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "bootstrap/membership/neighbours.h"

namespace tutti::bootstrap {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kRetry = 200ms;        // after a loss, lest two ends lose each other in a tight loop
constexpr std::chrono::nanoseconds kOverslept = 1s;       // so late, this process itself had been stopped
constexpr std::chrono::nanoseconds kFirstSpread = 100ms;  // first signs of life of many ranks come spread over this

Time later(Time time, std::chrono::nanoseconds span) { return Deadline::after(time, span).at; }

double seconds_of(std::chrono::nanoseconds span) { return static_cast<double>(span.count()) * 1e-9; }

}  // namespace

Member::Member(World& world, MemberOwner& owner, Roster roster, Rank rank, Settings settings)
    : world_(world),
      owner_(owner),
      roster_(std::move(roster)),
      self_(rank),
      settings_(settings),
      owner_epoch_(roster_.epoch) {
  begin_epoch();
}

Member::~Member() = default;

void Member::begin_epoch() {
  rank_of_.clear();
  for (Rank rank = 0; rank < roster_.size(); ++rank) rank_of_[contact_of(rank).id] = rank;
  gone_.clear();
  certain_.clear();
  edges_.clear();
  guests_.clear();
  notices_ = {};
  notice_count_ = 0;
  Shrink::Side& side = *this;
  former_ = std::exchange(shrink_, std::make_unique<Shrink>(world_, side, roster_, self_));
  choose_neighbours();
  wake_in_time();
}

void Member::receive(ActorId from, std::span<const std::byte> bytes) {
  const auto message = parse_member_message(bytes);
  if (!message || is_over()) return;
  const auto found = rank_of_.find(from);
  if (found == rank_of_.end()) return answer_stranger(from, message->circle == 0 ? message->epoch : 0);
  const Rank rank = found->second;
  // Whoever has ended is not listened to, even if something it said arrives later: others count on that.
  if (rank == self_ || certain_.contains(rank)) return;
  if (message->circle != 0) return hear_in_circle(from, *message);
  if (const auto* chosen = std::get_if<Chosen>(&message->body)) {
    follow(message->epoch, *chosen);
    if (!is_over()) wake_in_time();
    return;
  }
  if (message->epoch != roster_.epoch) return answer_other_epoch(rank, message->epoch);
  if (const auto edge = edges_.find(rank); edge != edges_.end()) edge->second.heard = world_.now();
  hear(rank, message->body);
  former_.reset();
  if (!is_over()) wake_in_time();
}

void Member::hear(Rank from, const MemberBody& body) {
  if (std::holds_alternative<Heartbeat>(body) && !edges_.contains(from)) tell(from, Heartbeat{});
  if (const auto* gone = std::get_if<Gone>(&body)) heard_gone(from, *gone);
  if (const auto* notice = std::get_if<Notice>(&body)) {
    if (notice->origin >= roster_.size() || notice->sequence == 0 || !notices_.add(*notice)) return;
    spread(*notice, from);
    if (owner_knows()) owner_.on_notice(notice->origin, notice->bytes);
  }
  if (const auto* question = std::get_if<Question>(&body); question != nullptr && owner_knows()) {
    Bytes answer = owner_.on_question(from, question->bytes);
    if (answer.size() <= kAnswerBytesMax) tell(from, Answer{question->id, std::move(answer)});
  }
  if (const auto* answer = std::get_if<Answer>(&body)) answered(from, *answer);
  shrink_->hear(from, body);
}

void Member::tell(Rank rank, MemberBody body) { send(rank, {roster_.epoch, std::move(body)}); }

void Member::send(Rank rank, const MemberMessage& message) {
  const Time now = world_.now();
  const auto edge = edges_.find(rank);
  if (edge == edges_.end())
    guests_[rank] = now;
  else if (!edge->second.needs_news)  // those do not wait for a sign of life
    edge->second.say_at = std::max(edge->second.say_at, later(now, settings_.heartbeat));
  world_.send(contact_of(rank), encode(message));
}

void Member::spread(const MemberBody& body, Rank except) {
  for (const auto& [rank, edge] : edges_)
    if (rank != except && !edge.needs_news) tell(rank, body);  // who needs the news gets all of them
}

void Member::heard_gone(Rank from, const Gone& gone) {
  if (gone.rank >= roster_.size() || gone.by >= roster_.size()) return;
  if (gone.rank == self_ && gone.kind != GoneKind::silent) return;  // this process knows better
  note_gone(gone, from);
}

void Member::note_gone(Gone gone, Rank from) {
  const auto known = gone_.find(gone.rank);
  const bool is_certain = gone.kind != GoneKind::silent;
  if (known != gone_.end() && (!is_certain || known->second.kind != GoneKind::silent)) return;
  spread(gone, from);
  gone_[gone.rank] = gone;
  if (gone.rank != self_) {
    if (is_certain) certain_.insert(gone.rank);
    if (is_certain) note_ended(contact_of(gone.rank).id);
    edges_.erase(gone.rank);
    if (is_certain) {
      guests_.erase(gone.rank);
      world_.forget(contact_of(gone.rank).id);
    } else {
      guests_[gone.rank] = world_.now();
    }
    choose_neighbours();
  }
  Departure departure{gone.rank, gone.kind, gone.by, sentence_of(gone)};
  if (is_certain)
    fail_questions([&](const Asked& asked) { return asked.rank == departure.rank; },
                   [&](const Asked&) { return Status(Code::peer_lost, departure.sentence, Scope::communicator); });
  looks_soon_ = true;
  if (owner_knows()) owner_.on_gone(departure);
}

std::string Member::sentence_of(const Gone& gone) const {
  const std::string who = rank_text(roster_, gone.rank);
  switch (gone.kind) {
    case GoneKind::dead: return fmt::format("{} has died: rank {} says that {}", who, gone.by, gone.reason);
    case GoneKind::left: return fmt::format("{} has left", who);
    case GoneKind::silent: break;
  }
  return fmt::format("{} is silent: rank {} says that {}; its process is stopped or its host is cut off", who, gone.by,
                     gone.reason);
}

void Member::choose_neighbours() {
  const auto wanted = neighbours_of(self_, roster_.size(), [&](Rank rank) { return gone_.contains(rank); });
  const Time now = world_.now();
  for (auto edge = edges_.begin(); edge != edges_.end();) {
    if (!wanted.contains(edge->first)) guests_[edge->first] = now;
    edge = wanted.contains(edge->first) ? std::next(edge) : edges_.erase(edge);
  }
  for (const Rank rank : wanted) {
    guests_.erase(rank);
    const auto spread_ns = static_cast<std::uint64_t>(kFirstSpread.count());
    if (!edges_.contains(rank))
      edges_[rank] = {now, later(now, std::chrono::nanoseconds(world_.random() % spread_ns)), true};
  }
}

void Member::lost(ActorId actor, const Status& why) {
  const auto found = rank_of_.find(actor);
  if (is_over() || found == rank_of_.end() || certain_.contains(found->second)) return;
  const Rank rank = found->second;
  if (why.code() == Code::peer_lost) {
    note_gone({rank, GoneKind::dead, self_, std::string(why.text())}, kNoRank);
  } else {
    const Time retry = later(world_.now(), kRetry);
    if (const auto edge = edges_.find(rank); edge != edges_.end()) {
      edge->second.needs_news = true;
      edge->second.say_at = retry;
    }
    for (auto& [id, asked] : asked_)
      if (asked.rank == rank) asked.send_at = retry;
  }
  former_.reset();
  if (!is_over()) wake_in_time();
}

void Member::wake() {
  if (is_over()) return;
  const Time now = world_.now();
  // What the others said while this process was stopped is still on its way, so its silence says nothing.
  if (now > later(wake_planned_, kOverslept))
    for (auto& [rank, edge] : edges_) edge.heard = now;
  looks_soon_ = false;
  if (unasked_ && shrink_sink_) {
    const MemberMessage decision = *std::exchange(unasked_, std::nullopt);
    follow(decision.epoch, std::get<Chosen>(decision.body));
  }
  watch_neighbours();
  look_at_questions();
  look_at_guests();
  if (!is_over()) shrink_->look();
  for (const auto& [name, circle] : circles_) circle->look();
  former_.reset();
  if (!is_over()) wake_in_time();
}

void Member::watch_neighbours() {
  const Time now = world_.now();
  std::vector<Rank> silent;
  for (auto& [rank, edge] : edges_) {
    if (now >= later(edge.heard, settings_.silence)) silent.push_back(rank);
    if (now < edge.say_at) continue;
    edge.say_at = later(now, settings_.heartbeat);
    if (std::exchange(edge.needs_news, false)) repeat_news(rank);
    tell(rank, Heartbeat{});
  }
  for (const Rank rank : silent) {
    const std::string waited = text::seconds_text(seconds_of(settings_.silence));
    if (edges_.contains(rank))
      note_gone({rank, GoneKind::silent, self_, fmt::format("it has heard nothing from it for {}", waited)}, kNoRank);
  }
}

void Member::repeat_news(Rank rank) {
  for (const auto& [who, gone] : gone_)
    if (who != rank) tell(rank, gone);
  for (const Notice& notice : notices_.recent()) tell(rank, notice);
}

void Member::look_at_guests() {
  const Time now = world_.now();
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    const bool is_idle = now >= later(guest->second, settings_.idle);
    if (is_idle) world_.forget(contact_of(guest->first).id);
    guest = is_idle ? guests_.erase(guest) : std::next(guest);
  }
}

Status Member::flood(std::span<const std::byte> bytes) {
  if (bytes.size() > kNoticeBytesMax)
    return invalid_argument(
        fmt::format("a notice to all ranks has {} bytes; it can have at most {}", bytes.size(), kNoticeBytesMax));
  if (is_over()) return {Code::invalid_usage, "a rank that has left tells the others nothing any more"};
  Notice notice{self_, ++notice_count_, Bytes(bytes.begin(), bytes.end())};
  notices_.add(notice);
  spread(notice, kNoRank);
  return {};
}

void Member::leave() {
  if (is_over()) return;
  for (auto& [rank, edge] : edges_) {
    // Why this rank leaves may be among the news that this neighbour has not got yet.
    if (std::exchange(edge.needs_news, false)) repeat_news(rank);
    tell(rank, Gone{self_, GoneKind::left, self_, {}});
  }
  over_ = {Code::aborted, fmt::format("rank {} has left", self_), Scope::communicator};
  fail_questions([](const Asked&) { return true; }, [&](const Asked&) { return over_; });
  if (auto sink = std::exchange(shrink_sink_, nullptr)) sink(over_);
  for (const auto& [name, circle] : circles_) circle->end(over_);
}

void Member::wake_in_time() {
  Time next = Deadline::never().at;
  for (const auto& [rank, edge] : edges_) next = std::min({next, edge.say_at, later(edge.heard, settings_.silence)});
  for (const auto& [rank, used] : guests_) next = std::min(next, later(used, settings_.idle));
  for (const auto& [id, asked] : asked_) next = std::min({next, asked.send_at, asked.deadline.at});
  for (const auto& [name, circle] : circles_) next = std::min(next, circle->next());
  if (shrink_->is_called()) next = std::min(next, shrink_->next());
  if (looks_soon_ || (unasked_ && shrink_sink_)) next = world_.now();
  wake_planned_ = next;
  if (next != Deadline::never().at) world_.wake_at(next);
}

}  // namespace tutti::bootstrap

#include "bootstrap/membership/joiner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/text.h"

namespace tutti::bootstrap {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kJoinFirst = 250ms;  // a meeting point that is not there yet is soon
constexpr std::chrono::nanoseconds kJoinMost = 2s;
constexpr std::chrono::nanoseconds kLook = 1s;
constexpr int kTriesMax = 10;    // a child that does not answer has the meeting to ask
constexpr int kRefusalsMax = 2;  // of a meeting that had answered: it is over

Time later(Time time, std::chrono::nanoseconds span) { return Deadline::after(time, span).at; }

double seconds_between(Time from, Time to) { return static_cast<double>(to.ns - std::min(from, to).ns) * 1e-9; }

}  // namespace

std::vector<Rank> tree_children(Rank rank, Rank size) {
  std::vector<Rank> children;
  for (std::int64_t child = std::int64_t{rank} * kTreeFan + 1; child <= std::int64_t{rank} * kTreeFan + kTreeFan;
       ++child)
    if (child < size) children.push_back(static_cast<Rank>(child));
  return children;
}

Joiner::Joiner(World& world, Settings settings, Done done)
    : world_(world), settings_(std::move(settings)), done_(std::move(done)), start_(world.now()) {
  next_join_ = start_;
  next_progress_ = later(start_, settings_.pace.first);
  world_.wake_at(start_);
}

void Joiner::receive(ActorId from, std::span<const std::byte> bytes) {
  auto message = parse_meeting_message(bytes);
  if (!message) return;
  if (const auto* waiting = std::get_if<Waiting>(&*message)) heard(from, *waiting);
  if (const auto* refused = std::get_if<Refused>(&*message)) heard(from, *refused);
  if (auto* everybody = std::get_if<Everybody>(&*message)) heard(from, std::move(everybody->roster), bytes);
  if (const auto* check = std::get_if<Check>(&*message); check != nullptr && check->epoch == epoch_ && epoch_ != 0)
    report_to(from);
  if (const auto* report = std::get_if<Report>(&*message)) heard(from, *report);
}

void Joiner::heard(ActorId from, const Waiting& waiting) {
  if (has_ended_ || from != settings_.meeting.id || (settings_.epoch != 0 && waiting.epoch != settings_.epoch)) return;
  heard_ = waiting;
  reason_ = {};
  refusal_count_ = 0;
}

void Joiner::heard(ActorId from, const Refused& refused) {
  if (has_ended_ || from != settings_.meeting.id || (settings_.epoch != 0 && refused.epoch != settings_.epoch)) return;
  end(Status(Code::invalid_usage, refused.text));
}

void Joiner::heard(ActorId from, Roster roster, std::span<const std::byte> bytes) {
  if (epoch_ != 0) {  // it comes again when an answer got lost
    if (roster.epoch == epoch_) report_to(from);
    return;
  }
  const Rank rank = roster.rank_of(settings_.self.contact.id);
  if (has_ended_ || rank == kNoRank || (settings_.epoch != 0 && roster.epoch != settings_.epoch)) return;
  epoch_ = roster.epoch;
  if (rank != 0) parent_ = roster.ranks[static_cast<std::size_t>(tree_parent(rank))].contact;
  for (const Rank child : tree_children(rank, roster.size())) {
    const Contact& contact = roster.ranks[static_cast<std::size_t>(child)].contact;
    children_[contact.id] = {.contact = contact};
  }
  roster_message_.assign(bytes.begin(), bytes.end());
  if (from != settings_.meeting.id) world_.forget(settings_.meeting.id);
  ask_children();
  report_to(from);
  end(Joined{std::move(roster), rank});
}

void Joiner::heard(ActorId from, const Report& report) {
  const auto child = children_.find(from);
  if (report.epoch != epoch_ || child == children_.end()) return;
  child->second.has_roster = true;
  if (report.is_complete) child_is_done(from);
}

void Joiner::report_to(ActorId to) {
  const bool is_complete = children_.empty();
  if (!parent_ && to == settings_.meeting.id) world_.send(settings_.meeting, encode(Spread{epoch_, is_complete}));
  if (parent_ && to == parent_->id) world_.send(*parent_, encode(Report{epoch_, is_complete}));
  if (is_complete) world_.forget(to);
}

void Joiner::child_is_done(ActorId child) {
  children_.erase(child);
  world_.forget(child);
  if (!children_.empty()) return;
  roster_message_.clear();
  report_to(parent_ ? parent_->id : settings_.meeting.id);
}

void Joiner::ask_children() {
  std::vector<ActorId> given_up;
  for (auto& [id, child] : children_) {
    if (++child.tries > kTriesMax)
      given_up.push_back(id);
    else
      world_.send(child.contact, child.has_roster ? encode(Check{epoch_}) : roster_message_);
  }
  for (const ActorId child : given_up) child_is_done(child);
  next_look_ = later(world_.now(), kLook);
  wake_in_time();
}

void Joiner::join() {
  world_.send(settings_.meeting,
              encode(Join{settings_.epoch, settings_.rank, settings_.size, settings_.version, settings_.self}));
  const auto backoff = heard_ ? kJoinMost : std::min(kJoinMost, kJoinFirst * (1 << std::min(join_count_, 10)));
  ++join_count_;
  // Somewhere between three and five quarters, so that thousands who began together do not come together.
  const auto quarter = static_cast<std::uint64_t>(backoff.count() / 4);
  next_join_ = later(world_.now(), std::chrono::nanoseconds(3 * quarter + world_.random() % (2 * quarter)));
}

void Joiner::lost(ActorId actor, const Status& why) {
  if (why.code() == Code::peer_lost && children_.contains(actor)) return child_is_done(actor);
  if (has_ended_ || actor != settings_.meeting.id) return;
  reason_ = why;
  if (why.code() == Code::peer_lost) ++refusal_count_;
  if (heard_ && refusal_count_ >= kRefusalsMax)
    end(Status(Code::peer_lost,
               fmt::format("the meeting point at {} has ended ({}) while rank {} waited; see why its process ended",
                           addresses_text(settings_.meeting), why.text(), settings_.rank)));
}

void Joiner::wake() {
  const Time now = world_.now();
  if (!has_ended_ && settings_.deadline.has_passed(now)) end(too_late());
  if (!has_ended_ && now >= next_join_) join();
  if (!has_ended_ && now >= next_progress_) {
    if (settings_.progress) settings_.progress(waiting_text());
    next_progress_ = later(now, settings_.pace.then);
  }
  if (!children_.empty() && now >= next_look_) ask_children();
  wake_in_time();
}

void Joiner::wake_in_time() {
  Time next = Deadline::never().at;
  if (!has_ended_) next = std::min({next_join_, next_progress_, settings_.deadline.at});
  if (!children_.empty()) next = std::min(next, next_look_);
  if (next != Deadline::never().at) world_.wake_at(next);
}

std::string Joiner::waiting_text() const {
  if (!heard_)
    return fmt::format("waiting for the meeting point at {} ({})", addresses_text(settings_.meeting),
                       reason_ ? "no answer yet" : reason_.text());
  if (heard_->missing_count == 0)
    return fmt::format("all {} ranks are there; waiting for the list of them", heard_->size);
  return fmt::format("waiting for {} of {} ranks: {}", heard_->missing_count, heard_->size,
                     ranks_told(heard_->missing, heard_->missing_count));
}

Status Joiner::too_late() const {
  const std::string waited = text::seconds_text(seconds_between(start_, world_.now()));
  if (!heard_)
    return {Code::timed_out,
            fmt::format("the meeting point at {} could not be reached within {} ({}); check that the "
                        "process there runs and that this host can reach it",
                        addresses_text(settings_.meeting), waited, reason_ ? "no answer" : reason_.text())};
  if (heard_->missing_count == 0)
    return {Code::timed_out, fmt::format("all {} ranks came to the meeting point at {}, but the list of them did not "
                                         "arrive within {}; check the network between the hosts",
                                         heard_->size, addresses_text(settings_.meeting), waited)};
  return {Code::timed_out, fmt::format("gave up after {} {}; start {} or raise TUTTI_START_TIMEOUT{}", waited,
                                       waiting_text(), heard_->missing_count == 1 ? "it" : "them",
                                       reason_ ? "" : fmt::format(" (the meeting point: {})", reason_.text()))};
}

void Joiner::end(Result<Joined> result) {
  has_ended_ = true;
  wake_in_time();
  if (!result) world_.forget(settings_.meeting.id);
  done_(std::move(result));
}

}  // namespace tutti::bootstrap

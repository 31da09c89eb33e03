#include "bootstrap/membership/meeting.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace tutti::bootstrap {
namespace {

using namespace std::chrono_literals;

// The tree has had its chance when a rank still asks so long after all had come.
constexpr std::chrono::nanoseconds kTreeChance = 1s;
constexpr std::chrono::nanoseconds kRepeat = 1s;
constexpr int kSpreadMax = 30;  // a rank 0 that does not answer for so long has other troubles

Status mistake(std::string text) { return {Code::invalid_usage, std::move(text)}; }

std::string who(const Join& join) {
  if (join.rank == kNoRank) return process_text(join.self.process);
  return fmt::format("rank {} ({})", join.rank, process_text(join.self.process));
}

}  // namespace

void Meeting::receive(ActorId from, std::span<const std::byte> bytes) {
  const auto message = parse_meeting_message(bytes);
  if (!message) return;  // nobody whom one could answer says such things
  if (const auto* join = std::get_if<Join>(&*message)) return joined(from, *join);
  const auto* report = std::get_if<Spread>(&*message);
  if (report == nullptr || !roster_ || report->epoch != settings_.epoch || from != roster_->ranks[0].contact.id) return;
  has_root_ = true;
  is_spread_ = is_spread_ || report->is_complete;
  if (is_spread_) world_.forget(from);
}

void Meeting::joined(ActorId from, const Join& join) {
  if (from != join.self.contact.id) return;
  if (join.epoch != 0 && join.epoch != settings_.epoch) return;  // left over from another meeting
  if (roster_) return answer_after(join);
  if (failure_.is_ok()) {
    failure_ = check(join);
    if (!failure_) refuse_all();
  }
  if (!failure_) return answer(join.self.contact, encode(Refused{settings_.epoch, std::string(failure_.text())}));
  admit(join);
  answer(join.self.contact, encode(waiting()));
  if (waiting().missing_count == 0) complete();
}

Status Meeting::check(const Join& join) const {
  if (join.version != settings_.version)
    return mistake(
        fmt::format("{} has version {}, but the meeting point has version {}; start all ranks with the same "
                    "version of the library",
                    who(join), join.version, settings_.version));
  if (join.size < 0 || join.size > kRanksMax)
    return mistake(
        fmt::format("{} was started with size {}; there can be 1 to {} ranks", who(join), join.size, kRanksMax));
  if (settings_.size == 0 && join.size == 0)
    return mistake(
        fmt::format("{} came first and without a size, so nobody knows how many ranks to wait for; start "
                    "rank 0 first",
                    who(join)));
  if (settings_.size != 0 && join.size != 0 && join.size != settings_.size)
    return mistake(fmt::format(
        "{} was started with size {}, but {} with size {}; start all ranks with the same size", who(join), join.size,
        size_rank_ == kNoRank ? "the meeting point" : fmt::format("rank {}", size_rank_), settings_.size));
  return check_rank(join);
}

Status Meeting::check_rank(const Join& join) const {
  const Rank size = settings_.size != 0 ? settings_.size : join.size;
  if (join.rank != kNoRank && (join.rank < 0 || join.rank >= size))
    return mistake(fmt::format("{} is not one of {} ranks, which are 0 to {}", who(join), size, size - 1));
  for (const auto& [rank, holder] : ranked_) {
    const bool is_same = holder.contact.id == join.self.contact.id;
    if (rank == join.rank && !is_same)
      return mistake(fmt::format("rank {} was started twice: as {} and as {}; give every process a rank of its own",
                                 rank, process_text(holder.process), process_text(join.self.process)));
    if (rank != join.rank && is_same)
      return mistake(fmt::format("{} came as rank {} before; start every rank once", who(join), rank));
  }
  return {};
}

// Those who wait need not wait any longer. The one who asks gets its answer anyway.
void Meeting::refuse_all() {
  const Bytes message = encode(Refused{settings_.epoch, std::string(failure_.text())});
  for (const auto& [rank, holder] : ranked_) answer(holder.contact, message);
  for (const Participant& holder : any_rank_) answer(holder.contact, message);
}

void Meeting::admit(const Join& join) {
  if (settings_.size == 0) {
    settings_.size = join.size;
    size_rank_ = join.rank;
  }
  if (join.rank != kNoRank) {
    ranked_.insert_or_assign(join.rank, join.self);
    return;
  }
  const auto same = [&](const Participant& other) { return other.contact.id == join.self.contact.id; };
  if (std::ranges::none_of(any_rank_, same)) any_rank_.push_back(join.self);
}

Waiting Meeting::waiting() const {
  const auto here = static_cast<Rank>(ranked_.size() + any_rank_.size());
  Waiting waiting{settings_.epoch, settings_.size, std::max(settings_.size - here, 0), {}};
  const auto told = std::min(static_cast<std::size_t>(waiting.missing_count), kMissingTold);
  for (Rank rank = 0; rank < settings_.size && waiting.missing.size() < told; ++rank)
    if (!ranked_.contains(rank)) waiting.missing.push_back(rank);
  return waiting;
}

void Meeting::complete() {
  Roster roster{.epoch = settings_.epoch, .ranks = {}};
  auto next = any_rank_.begin();
  for (Rank rank = 0; rank < settings_.size; ++rank) {
    const auto found = ranked_.find(rank);
    roster.ranks.push_back(found != ranked_.end() ? found->second : *next++);
  }
  roster_message_ = encode(Everybody{roster});
  roster_ = std::move(roster);
  completed_ = world_.now();
  ranked_.clear();
  any_rank_.clear();
  spread();
}

void Meeting::spread() {
  if (++spread_count_ > kSpreadMax) return;
  const Contact& root = roster_->ranks[0].contact;
  world_.send(root, has_root_ ? encode(Check{settings_.epoch}) : roster_message_);
  world_.wake_at(Deadline::after(world_.now(), kRepeat).at);
}

void Meeting::answer_after(const Join& join) {
  const Rank rank = roster_->rank_of(join.self.contact.id);
  if (rank != kNoRank) {
    const bool is_late = Deadline::after(completed_, kTreeChance).has_passed(world_.now());
    return answer(join.self.contact, is_late ? roster_message_ : encode(waiting()));
  }
  if (settings_.is_used_again) return world_.forget(join.self.contact.id);
  std::string text = fmt::format(
      "{} came when all {} ranks were there already; start as many processes as there are "
      "ranks",
      who(join), settings_.size);
  if (join.rank >= 0 && join.rank < settings_.size)
    text = fmt::format("rank {} was started twice: as {} and as {}; give every process a rank of its own", join.rank,
                       process_text(roster_->ranks[static_cast<std::size_t>(join.rank)].process),
                       process_text(join.self.process));
  answer(join.self.contact, encode(Refused{settings_.epoch, std::move(text)}));
}

void Meeting::answer(const Contact& to, Bytes message) {
  world_.send(to, std::move(message));
  world_.forget(to.id);
}

void Meeting::lost(ActorId actor, const Status& why) {
  // Whoever did not get an answer comes again. Without rank 0 there is no tree, and everybody comes again.
  if (roster_ && actor == roster_->ranks[0].contact.id && why.code() == Code::peer_lost) is_spread_ = true;
}

void Meeting::wake() {
  if (roster_ && !is_spread_) spread();
}

}  // namespace tutti::bootstrap

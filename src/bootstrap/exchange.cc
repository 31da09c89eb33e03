#include "bootstrap/exchange.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/entropy.h"

namespace tutti::bootstrap {
namespace {

constexpr std::size_t kRanksShown = 8;
// How long one looks at a single missing rank before asking whether the others have found a mistake meanwhile.
constexpr std::chrono::milliseconds kGlance{200};

// What a rank leaves in front of its bytes. The mark is chance: it tells two processes apart that leave the same.
struct Claim {
  std::int32_t process = 0;
  std::array<std::byte, 16> mark{};
};
constexpr std::size_t kClaimBytes = sizeof(std::int32_t) + 16;
static_assert(kExchangeBytesMax + kClaimBytes <= kValueBytesMax);

// Size and rank of who came first with it.
struct Size {
  Rank size = 0;
  Rank rank = 0;
};

Bytes value_of(Size size) {
  Bytes value;
  append_number(value, size.size);
  append_number(value, size.rank);
  return value;
}

Result<Size> size_of(const Bytes& value) {
  ByteReader reader(value);
  const auto size = reader.number<Rank>();
  const auto rank = reader.number<Rank>();
  if (!size || !rank || !reader.rest().empty())
    return Status(Code::invalid_usage, "the store is used for something else too; give each communicator its own");
  return Size{*size, *rank};
}

Deadline earlier(Deadline a, Deadline b) { return a.at < b.at ? a : b; }

// One rank's part in one exchange.
class Meeting {
 public:
  Meeting(Store& store, std::string_view what, Size self, Deadline deadline, const ProgressSink& progress,
          ProgressPace pace)
      : store_(store), what_(what), self_(self), deadline_(deadline), progress_(progress), pace_(pace) {}

  Status agree_on_size();
  Status leave_mine(std::span<const std::byte> mine);
  Result<Bytes> collect(Rank rank);

 private:
  std::string key_of(Rank rank) const { return fmt::format("{}/{}", what_, rank); }
  Status other_size(Size other) const;
  Status check_mismatch();
  Result<std::vector<Rank>> missing_from(Rank first);
  Status look_around(Rank rank);  // while that rank is missing
  Status too_late(std::span<const Rank> missing) const;

  Store& store_;
  std::string_view what_;
  Size self_;
  Deadline deadline_;
  const ProgressSink& progress_;
  ProgressPace pace_;
  Time start_ = os::now();
  Deadline next_progress_ = Deadline::after(start_, pace_.first);
};

Status Meeting::other_size(Size other) const {
  return {Code::invalid_usage,
          fmt::format("rank {} was started with size {}, but rank {} with size {}; start all ranks "
                      "with the same size, each group with a store of its own",
                      self_.rank, self_.size, other.rank, other.size)};
}

Status Meeting::agree_on_size() {
  const Bytes mine = value_of(self_);
  TUTTI_ASSIGN(const Bytes agreed, store_.compare_and_swap(fmt::format("{}/size", what_), {}, mine));
  TUTTI_ASSIGN(const Size first, size_of(agreed));
  if (first.size == self_.size) return {};
  TUTTI_TRY(store_.set(fmt::format("{}/mismatch", what_), mine));  // the others are told, or they wait in vain
  return other_size(first);
}

Status Meeting::check_mismatch() {
  TUTTI_ASSIGN(const auto mismatch, store_.get(fmt::format("{}/mismatch", what_)));
  if (!mismatch) return {};
  TUTTI_ASSIGN(const Size other, size_of(*mismatch));
  return other_size(other);
}

Status Meeting::leave_mine(std::span<const std::byte> mine) {
  Claim claim;
  claim.process = static_cast<std::int32_t>(::getpid());
  TUTTI_TRY(os::fill_random(claim.mark));
  Bytes entry;
  append_number(entry, claim.process);
  append(entry, claim.mark);
  append(entry, mine);
  TUTTI_ASSIGN(const Bytes there, store_.compare_and_swap(key_of(self_.rank), {}, entry));
  if (there == entry) return {};
  const auto process = ByteReader(there).number<std::int32_t>();
  return {Code::invalid_usage,
          fmt::format("rank {} of {} is taken: process {} has come with it before process {}; give "
                      "every process a rank of its own, and every communicator its own store",
                      self_.rank, self_.size, process.value_or(0), claim.process)};
}

Result<std::vector<Rank>> Meeting::missing_from(Rank first) {
  std::vector<Rank> missing;
  for (Rank rank = first; rank < self_.size; ++rank) {
    TUTTI_ASSIGN(const auto entry, store_.get(key_of(rank)));
    if (!entry) missing.push_back(rank);
  }
  return missing;
}

Status Meeting::too_late(std::span<const Rank> missing) const {
  const double waited_s = static_cast<double>(deadline_.at.ns - std::min(deadline_.at.ns, start_.ns)) * 1e-9;
  return {Code::timed_out,
          fmt::format("{} of {} did not come within {} ({} never reached '{}'); start {} or raise "
                      "start_timeout",
                      ranks_text(missing), self_.size, text::seconds_text(waited_s),
                      missing.size() == 1 ? "it" : "they", what_, missing.size() == 1 ? "it" : "them")};
}

Status Meeting::look_around(Rank rank) {
  TUTTI_TRY(check_mismatch());
  const Time time = os::now();
  const bool is_over = deadline_.has_passed(time);
  if (!is_over && (!progress_ || !next_progress_.has_passed(time))) return {};
  TUTTI_ASSIGN(const std::vector<Rank> missing, missing_from(rank));
  if (missing.empty()) return {};  // the last one has come in this moment
  if (is_over) return too_late(missing);
  next_progress_ = Deadline::after(time, pace_.then);
  progress_(fmt::format("waiting for {} of {} ranks: {}", missing.size(), self_.size, ranks_list(missing)));
  return {};
}

Result<Bytes> Meeting::collect(Rank rank) {
  while (true) {
    Deadline glance = earlier(deadline_, Deadline::after(os::now(), kGlance));
    if (progress_) glance = earlier(glance, next_progress_);
    auto entry = store_.wait(key_of(rank), glance);
    if (entry && entry->size() >= kClaimBytes) {
      entry->erase(entry->begin(), entry->begin() + kClaimBytes);
      return entry;
    }
    if (entry)
      return Status(Code::invalid_usage, fmt::format("what rank {} left for '{}' has only {} bytes; give every "
                                                     "communicator a store of its own",
                                                     rank, what_, entry->size()));
    if (entry.status().code() != Code::timed_out) return entry;
    TUTTI_TRY(look_around(rank));
  }
}

}  // namespace

Result<std::vector<Bytes>> exchange(Store& store, std::string_view what, Rank rank, Rank size,
                                    std::span<const std::byte> mine, Deadline deadline, const ProgressSink& progress,
                                    ProgressPace pace) {
  if (size < 1) return invalid_argument(fmt::format("a group of {} ranks cannot meet; the size is at least 1", size));
  if (rank < 0 || rank >= size)
    return invalid_argument(fmt::format("rank {} is not one of {} ranks, which are 0 to {}", rank, size, size - 1));
  if (mine.size() > kExchangeBytesMax)
    return invalid_argument(fmt::format("rank {} leaves {} bytes for '{}'; at most {} can be exchanged", rank,
                                        mine.size(), what, kExchangeBytesMax));
  Meeting meeting(store, what, {.size = size, .rank = rank}, deadline, progress, pace);
  TUTTI_TRY(meeting.agree_on_size());
  TUTTI_TRY(meeting.leave_mine(mine));
  std::vector<Bytes> all;
  for (Rank other = 0; other < size; ++other) {
    TUTTI_ASSIGN(Bytes bytes, meeting.collect(other));
    all.push_back(std::move(bytes));
  }
  return all;
}

Status leave(Store& store, Rank size) {
  TUTTI_ASSIGN(const std::int64_t left, store.add("left", 1));
  if (left == size) store.remove();
  if (left <= size) return {};
  return {Code::invalid_usage, fmt::format("a rank left the store twice: {} have left and there are {}", left, size)};
}

std::string ranks_text(std::span<const Rank> ranks) {
  if (ranks.size() == 1) return fmt::format("rank {}", ranks[0]);
  if (ranks.size() > kRanksShown)
    return fmt::format("ranks {} and {} more", fmt::join(ranks.first(kRanksShown), ", "), ranks.size() - kRanksShown);
  if (ranks.empty()) return "no ranks";
  return fmt::format("ranks {} and {}", fmt::join(ranks.first(ranks.size() - 1), ", "), ranks.back());
}

std::string ranks_list(std::span<const Rank> ranks) {
  if (ranks.size() <= kRanksShown) return fmt::format("{}", fmt::join(ranks, ", "));
  return fmt::format("{} and {} more", fmt::join(ranks.first(kRanksShown), ", "), ranks.size() - kRanksShown);
}

}  // namespace tutti::bootstrap

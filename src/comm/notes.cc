#include "comm/notes.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "os/clock.h"

namespace tutti::comm {
namespace {

// Of the ranks of this process. A mutex because they are threads.
class Board {
 public:
  static Board& of_process() {
    // Never destroyed: sides may go at the very end.
    static Board& board = *new Board;
    return board;
  }

  void offer(const void* block, std::uint64_t name, Bytes bytes) {
    const std::lock_guard lock(mutex_);
    notes_[{block, name}] = std::move(bytes);
    has_news_.notify_all();
  }

  std::optional<Bytes> obtain(const void* block, std::uint64_t name, Deadline deadline) {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto found = notes_.find({block, name});
      if (found != notes_.end()) return found->second;
      if (deadline.has_passed(os::now())) return std::nullopt;
      has_news_.wait_for(lock, kLook);
    }
  }

  void withdraw(const void* block) {
    const std::lock_guard lock(mutex_);
    const auto first = notes_.lower_bound({block, 0});
    auto last = first;
    while (last != notes_.end() && last->first.first == block) ++last;
    notes_.erase(first, last);
  }

 private:
  static constexpr std::chrono::milliseconds kLook{10};  // at the clock

  std::mutex mutex_;
  std::condition_variable has_news_;
  std::map<std::pair<const void*, std::uint64_t>, Bytes> notes_;  // by the memory of a rank, and by name
};

}  // namespace

void offer(Side& side, std::uint64_t name, Bytes bytes) {
  if (Outside* const outside = side.outside()) return outside->offer(name, std::move(bytes));
  Board::of_process().offer(side.block_of(side.rank()), name, std::move(bytes));
}

Result<Bytes> obtain(Side& side, Rank rank, std::uint64_t name, Deadline deadline) {
  if (Outside* const outside = side.outside()) return outside->obtain(rank, name, deadline);
  if (!side.is_one_process())
    return Status(Code::unsupported,
                  "ranks of several processes that met through a file or socket tell each other nothing beside their "
                  "calls; start with \"tcp:\" and the text of an Identifier");
  auto note = Board::of_process().obtain(side.block_of(rank), name, deadline);
  if (note) return *std::move(note);
  return Status(Code::timed_out,
                fmt::format("rank {} has not come; every rank that takes part has to make this call", rank));
}

void withdraw_offers(const Side& side) {
  if (side.outside() == nullptr) Board::of_process().withdraw(side.block_of(side.rank()));
}

}  // namespace tutti::comm

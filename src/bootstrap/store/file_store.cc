#include "bootstrap/store/file_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "bootstrap/store/record.h"
#include "bootstrap/store/shared_file.h"
#include "bootstrap/store/table.h"
#include "os/backoff.h"
#include "os/clock.h"

namespace tutti::bootstrap {
namespace {

// Others have the turn for well under a millisecond, unless they are stopped or the disk is stuck.
constexpr std::chrono::seconds kTurnWait{30};
constexpr std::chrono::seconds kTurnWaitAtEnd{1};
// Every change adds a record; a store that is used as it should be never comes near.
constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 30;
constexpr std::size_t kReadBytes = std::size_t{4} << 20;
static_assert(kReadBytes >= kRecordBytesMax, "a record that does not fit one read could never be told from a torn one");

Deadline turn_deadline() { return Deadline::after(os::now(), kTurnWait); }

class FileStore final : public Store {
 public:
  explicit FileStore(SharedFile file) : file_(std::move(file)) {}
  ~FileStore() override;
  Status begin();  // having the turn since the file was opened

  Status set(std::string_view key, std::span<const std::byte> value) override;
  Result<Bytes> wait(std::string_view key, Deadline deadline) override;
  Result<std::optional<Bytes>> get(std::string_view key) override;
  Result<std::int64_t> add(std::string_view key, std::int64_t delta) override;
  Result<Bytes> compare_and_swap(std::string_view key, std::span<const std::byte> expected,
                                 std::span<const std::byte> desired) override;
  void remove() noexcept override;

 private:
  Status prepare_header();
  Status catch_up();  // having the turn
  Status catch_up_if_grown(Deadline deadline);
  Status append(std::string_view key, std::span<const std::byte> value);  // having the turn, all caught up
  Result<std::optional<Bytes>> look_up(std::string_view key, Deadline deadline);

  std::mutex mutex_;  // locks of an open file do not hold between threads that share it
  SharedFile file_;
  Table table_;
  bool has_begun_ = false;                   // a file that was refused is not removed
  std::uint64_t offset_ = kFileHeaderBytes;  // up to here the table knows the file
};

FileStore::~FileStore() {
  if (!has_begun_) return;
  const auto turn = file_.take_turn(Deadline::after(os::now(), kTurnWaitAtEnd));
  if (turn && file_.is_alone()) file_.remove();
}

Status FileStore::begin() {
  TUTTI_TRY(prepare_header());
  TUTTI_TRY(catch_up());
  has_begun_ = true;
  return {};
}

Status FileStore::prepare_header() {
  TUTTI_ASSIGN(const std::uint64_t size, file_.size());
  Bytes found(std::min<std::uint64_t>(size, kFileHeaderBytes));
  TUTTI_TRY(file_.read(0, found));
  const Bytes header = file_header();
  // Shorter than a header: new, or its first user was killed in the middle of writing it.
  const bool is_started = size < kFileHeaderBytes && std::equal(found.begin(), found.end(), header.begin());
  if (!is_started) TUTTI_TRY(check_file_header(found));
  if (!is_started && !file_.is_alone()) return {};
  TUTTI_TRY(file_.close_to_others());
  TUTTI_TRY(file_.truncate(0));  // alone: whatever stands here is from ranks that are gone
  return file_.write(0, header);
}

Status FileStore::catch_up() {
  TUTTI_ASSIGN(const std::uint64_t size, file_.size());
  if (size < offset_)
    return {Code::network, fmt::format("the store '{}' has become shorter; only stores may write to it", file_.path())};
  while (offset_ < size) {
    Bytes bytes(std::min<std::uint64_t>(size - offset_, kReadBytes));
    TUTTI_TRY(file_.read(offset_, bytes));
    std::span<const std::byte> rest = bytes;
    while (true) {
      const auto record = parse_record(rest);
      if (!record)
        return invalid_argument(
            fmt::format("the store '{}' is damaged at byte {}: {}; remove it and start all ranks "
                        "again",
                        file_.path(), offset_, record.status().text()));
      if (!record->has_value()) break;
      TUTTI_TRY(table_.set((*record)->key, (*record)->value));
      offset_ += (*record)->bytes;
      rest = rest.subspan((*record)->bytes);
    }
    // Whoever has the turn sees no record in the making: this one's writer was killed, and nobody has seen its change.
    if (rest.size() == bytes.size()) return file_.truncate(offset_);
  }
  return {};
}

Status FileStore::catch_up_if_grown(Deadline deadline) {
  TUTTI_ASSIGN(const std::uint64_t size, file_.size());
  if (size == offset_) return {};
  TUTTI_ASSIGN(const auto turn, file_.take_turn(deadline));
  return catch_up();
}

Status FileStore::append(std::string_view key, std::span<const std::byte> value) {
  TUTTI_TRY(table_.check_room(key, value.size()));
  const Bytes record = record_of(key, value);
  if (offset_ + record.size() > kFileBytesMax)
    return {Code::out_of_memory, fmt::format("the store '{}' is full: it takes {} bytes", file_.path(), kFileBytesMax)};
  TUTTI_TRY(file_.write(offset_, record));
  offset_ += record.size();
  return table_.set(key, value);
}

Status FileStore::set(std::string_view key, std::span<const std::byte> value) {
  TUTTI_TRY(check_key(key));
  const std::lock_guard lock(mutex_);
  TUTTI_ASSIGN(const auto turn, file_.take_turn(turn_deadline()));
  TUTTI_TRY(catch_up());
  return append(key, value);
}

Result<std::optional<Bytes>> FileStore::look_up(std::string_view key, Deadline deadline) {
  const std::lock_guard lock(mutex_);
  TUTTI_TRY(catch_up_if_grown(deadline));
  const Bytes* value = table_.find(key);
  return value == nullptr ? std::optional<Bytes>() : std::optional<Bytes>(*value);
}

Result<std::optional<Bytes>> FileStore::get(std::string_view key) {
  TUTTI_TRY(check_key(key));
  return look_up(key, turn_deadline());
}

Result<Bytes> FileStore::wait(std::string_view key, Deadline deadline) {
  TUTTI_TRY(check_key(key));
  os::Backoff backoff;
  while (true) {
    // At least one honest look, also when the deadline has passed before.
    const bool is_last = deadline.has_passed(os::now());
    TUTTI_ASSIGN(auto value, look_up(key, is_last ? turn_deadline() : deadline));
    if (value) return *std::move(value);
    if (is_last) return no_value_in_time(key);
    if (file_.is_removed())
      return Status(Code::peer_lost, fmt::format("the store '{}' was removed while key '{}' was waited for; the ranks "
                                                 "have to start again",
                                                 file_.path(), key));
    backoff.pause(deadline);
  }
}

Result<std::int64_t> FileStore::add(std::string_view key, std::int64_t delta) {
  TUTTI_TRY(check_key(key));
  const std::lock_guard lock(mutex_);
  TUTTI_ASSIGN(const auto turn, file_.take_turn(turn_deadline()));
  TUTTI_TRY(catch_up());
  TUTTI_ASSIGN(const std::int64_t sum, counter_after(key, table_.find(key), delta));
  TUTTI_TRY(append(key, value_of_counter(sum)));
  return sum;
}

Result<Bytes> FileStore::compare_and_swap(std::string_view key, std::span<const std::byte> expected,
                                          std::span<const std::byte> desired) {
  TUTTI_TRY(check_key(key));
  const std::lock_guard lock(mutex_);
  TUTTI_ASSIGN(const auto turn, file_.take_turn(turn_deadline()));
  TUTTI_TRY(catch_up());
  const Bytes* current = table_.find(key);
  if (!matches(current, expected)) return current == nullptr ? Bytes() : *current;
  TUTTI_TRY(append(key, desired));
  return Bytes(desired.begin(), desired.end());
}

void FileStore::remove() noexcept {
  const std::lock_guard lock(mutex_);
  const auto turn = file_.take_turn(Deadline::after(os::now(), kTurnWaitAtEnd));
  if (turn) file_.remove();
}

}  // namespace

Result<std::unique_ptr<Store>> open_file_store(const std::string& path, Deadline deadline) {
  TUTTI_ASSIGN(SharedFile::Opened opened, SharedFile::open(path, deadline));
  auto store = std::make_unique<FileStore>(std::move(opened.file));
  // The turn ends before the store may have to be destroyed, which takes it again.
  const SharedFile::Turn turn = std::move(opened.turn);
  if (const Status status = store->begin(); !status)
    return status.while_doing(fmt::format("opening the store '{}'", path));
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace tutti::bootstrap

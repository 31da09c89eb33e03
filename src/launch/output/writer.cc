#include "launch/output/writer.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "os/clock.h"
#include "os/error_text.h"

namespace tutti::launch {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{256} << 10;   // small pieces are gathered up to this
constexpr std::size_t kSpareBytesMax = std::size_t{4} << 20;  // larger blocks are given back to the system
constexpr std::size_t kSpareBlocksMax = 4;
constexpr int kLookAgainMs = 100;

}  // namespace

Result<std::unique_ptr<Writer>> Writer::create(std::unique_ptr<Target> target, std::function<void()> notify) {
  os::FileDescriptor stop_event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_event.is_open())
    return Status(Code::out_of_memory,
                  fmt::format("cannot create an event descriptor: {}; look at the limit of open files ('ulimit -n')",
                              os::error_text(errno)));
  std::unique_ptr<Writer> writer(new Writer(std::move(target), std::move(stop_event), std::move(notify)));
  TUTTI_ASSIGN(writer->thread_, os::Thread::start("output", [self = writer.get()] { self->run(); }));
  return writer;
}

Writer::~Writer() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    last_moment_ = Deadline::after(os::now(), kLastWait).at;
  }
  changed_.notify_one();
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(stop_event_.get(), &one, sizeof(one));
  thread_.join();
}

void Writer::commit(std::uint32_t file) {
  const std::size_t bytes = building_.bytes.size();
  if (bytes == 0) return;
  bool was_empty = false;
  {
    const std::lock_guard lock(mutex_);
    was_empty = queue_.empty();
    if (!was_empty && queue_.back().bytes.size() + bytes <= kBlockBytes) {
      Block& last = queue_.back();
      last.bytes.append(building_.bytes);
      if (last.runs.back().file == file) {
        last.runs.back().bytes += bytes;
      } else {
        last.runs.push_back({file, bytes});
      }
    } else {
      building_.runs.push_back({file, bytes});
      queue_.push_back(std::move(building_));
      building_ = {};
      if (!spare_.empty()) {
        building_ = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    queued_bytes_ += bytes;
    if (queued_bytes_ > kQueueHigh) is_full_.store(true, std::memory_order_release);
  }
  building_.bytes.clear();
  building_.runs.clear();
  if (was_empty) changed_.notify_one();
}

bool Writer::is_written() const {
  const std::lock_guard lock(mutex_);
  is_awaited_ = queued_bytes_ != 0;
  return queued_bytes_ == 0;
}

Status Writer::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Writer::run() {
  Block block;
  while (take(block)) write(block);
}

// Gives the last block back and waits for the next one.
bool Writer::take(Block& block) {
  std::unique_lock lock(mutex_);
  if (block.bytes.capacity() <= kSpareBytesMax && spare_.size() < kSpareBlocksMax) spare_.push_back(std::move(block));
  changed_.wait(lock, [&] { return !queue_.empty() || is_stopping_; });
  if (queue_.empty()) return false;
  block = std::move(queue_.front());
  queue_.pop_front();
  return true;
}

void Writer::write(const Block& block) {
  std::string_view rest = block.bytes;
  for (const Run& run : block.runs) {
    write_run(run.file, rest.substr(0, run.bytes));
    rest.remove_prefix(run.bytes);
  }
}

void Writer::write_run(std::uint32_t file, std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t written = bytes.size();
    if (std::find(failed_.begin(), failed_.end(), file) == failed_.end()) {
      const auto result = target_->write(file, bytes);
      if (!result) {
        fail(file, result.status());
        continue;
      }
      written = *result;
      if (written == 0) {
        if (wait_for_room()) continue;
        written = bytes.size();  // the time is over
      }
    }
    count_written(written);
    bytes.remove_prefix(written);
  }
}

// False: this writer is stopping and has waited long enough.
bool Writer::wait_for_room() const {
  bool is_stopping = false;
  {
    const std::lock_guard lock(mutex_);
    is_stopping = is_stopping_;
    if (is_stopping && os::now() >= last_moment_) return false;
  }
  std::array<pollfd, 2> ready = {{{target_->wait_fd(), POLLOUT, 0}, {stop_event_.get(), POLLIN, 0}}};
  ::poll(ready.data(), is_stopping ? 1 : 2, is_stopping ? kLookAgainMs : -1);
  return true;
}

void Writer::count_written(std::size_t bytes) {
  bool is_news = false;
  {
    const std::lock_guard lock(mutex_);
    queued_bytes_ -= bytes;
    if (queued_bytes_ < kQueueLow && is_full_.exchange(false)) is_news = true;
    if (queued_bytes_ == 0 && is_awaited_) {
      is_awaited_ = false;
      is_news = true;
    }
  }
  if (is_news) notify_();
}

void Writer::fail(std::uint32_t file, const Status& why) {
  failed_.push_back(file);
  {
    const std::lock_guard lock(mutex_);
    if (failure_) failure_ = why;
  }
  notify_();
}

}  // namespace tutti::launch

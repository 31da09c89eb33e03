// A thread that writes to one target, so that nobody else has to wait for it, and the bounded queue before it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.h"
#include "launch/output/target.h"
#include "os/file_descriptor.h"
#include "os/thread.h"
#include "tutti/status.h"

namespace tutti::launch {

class Writer {
 public:
  // Three writers at most, and what a caller adds before it looks at is_full() again, stay below 64 MiB.
  static constexpr std::size_t kQueueHigh = std::size_t{8} << 20;
  static constexpr std::size_t kQueueLow = std::size_t{4} << 20;
  static constexpr std::chrono::seconds kLastWait{2};  // for what is left when it is destroyed

  // `notify` is called by the thread of the writer: there is room again, all is written after is_written() has said
  // no, or a file has failed.
  static Result<std::unique_ptr<Writer>> create(std::unique_ptr<Target> target, std::function<void()> notify);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();

  // For the one thread that feeds: append to space(), then commit it to a file of the target.
  std::string& space() { return building_.bytes; }
  void commit(std::uint32_t file);

  bool is_full() const { return is_full_.load(std::memory_order_acquire); }
  bool is_written() const;
  Status failure() const;  // the first one; what is for that file is dropped since

 private:
  struct Run {
    std::uint32_t file = 0;
    std::size_t bytes = 0;
  };
  struct Block {
    std::string bytes;
    std::vector<Run> runs;
  };

  Writer(std::unique_ptr<Target> target, os::FileDescriptor stop_event, std::function<void()> notify)
      : target_(std::move(target)), stop_event_(std::move(stop_event)), notify_(std::move(notify)) {}
  void run();
  bool take(Block& block);
  void write(const Block& block);
  void write_run(std::uint32_t file, std::string_view bytes);
  bool wait_for_room() const;
  void count_written(std::size_t bytes);
  void fail(std::uint32_t file, const Status& why);

  std::unique_ptr<Target> target_;
  os::FileDescriptor stop_event_;
  std::function<void()> notify_;
  Block building_;                     // of the feeding thread
  std::vector<std::uint32_t> failed_;  // files, of the writing thread
  std::atomic<bool> is_full_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> queue_;          // guarded by mutex_, as all below
  std::vector<Block> spare_;         // written, to be filled again
  std::size_t queued_bytes_ = 0;     // not written yet
  mutable bool is_awaited_ = false;  // somebody was told that not all is written
  bool is_stopping_ = false;
  Time last_moment_;  // of one that is stopping
  Status failure_;
  os::Thread thread_;
};

}  // namespace tutti::launch

// A stream of a virtual device: tasks that run one after the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "base/deadline.h"
#include "device/task.h"
#include "tutti/status.h"

namespace tutti::device {

class Recording;

class HostStream {
 public:
  // legacy: the default stream of its device, which waits for all blocking ones and they for it.
  enum class Kind : std::uint8_t { blocking, non_blocking, legacy };

  HostStream(int device, Kind kind, int priority) : device_(device), kind_(kind), priority_(priority) {}

  int device() const { return device_; }
  Kind kind() const { return kind_; }
  int priority() const { return priority_; }

  // Whether all that was added has ended.
  bool is_idle() const { return finished_.load(std::memory_order_acquire) == added_.load(std::memory_order_acquire); }
  // Whether it also has no failure to tell and is not captured.
  bool is_at_rest() const {
    return is_idle() && !has_failed_.load(std::memory_order_acquire) && !is_recorded_.load(std::memory_order_acquire);
  }
  // Runs what is on it, and on others, until all that was added before has ended; false: the deadline passed.
  bool synchronize(Deadline deadline);

  // What went wrong in a task: the first failure is kept until the program is told, once.
  void fail(Status failure);
  Status take_failure();  // success: there is none

  // Where work goes instead of running while a program captures the stream; nullptr: it is not captured.
  std::shared_ptr<Recording> recording() const {
    return is_recorded_.load(std::memory_order_acquire) ? find_recording() : nullptr;
  }
  void set_recording(std::shared_ptr<Recording> recording);

 private:
  friend class Executor;
  std::shared_ptr<Recording> find_recording() const;

  const int device_;
  const Kind kind_;
  const int priority_;
  std::mutex tasks_mutex_;  // because any thread may add and run tasks; held for a few lines
  std::deque<std::shared_ptr<Task>> tasks_;
  bool is_known_ = false;  // to the executor
  std::atomic<std::uint64_t> added_ = 0;
  std::atomic<std::uint64_t> finished_ = 0;  // release: pairs with whoever waits for the effects

  // Looked at by every call, changed hardly ever: the flags spare the mutex.
  std::atomic<bool> has_failed_ = false;
  std::atomic<bool> is_recorded_ = false;
  mutable std::mutex mutex_;
  Status failure_;
  std::shared_ptr<Recording> recording_;
};

}  // namespace tutti::device

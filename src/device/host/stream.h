// A stream of a virtual device: tasks that run one after the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>

#include "base/deadline.h"
#include "device/task.h"

namespace tutti::device {

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
  // Runs what is on it, and on others, until all that was added before has ended; false: the deadline passed.
  bool synchronize(Deadline deadline);

 private:
  friend class Executor;
  const int device_;
  const Kind kind_;
  const int priority_;
  std::deque<std::shared_ptr<Task>> tasks_;  // of the executor, under its mutex
  std::atomic<std::uint64_t> added_ = 0;
  std::atomic<std::uint64_t> finished_ = 0;  // release: pairs with whoever waits for the effects
};

}  // namespace tutti::device

#include "device/host/stream.h"

#include <utility>

#include "device/host/executor.h"

namespace tutti::device {

bool HostStream::synchronize(Deadline deadline) { return Executor::of_process().synchronize(*this, deadline); }

void HostStream::fail(Status failure) {
  if (failure) return;
  const std::lock_guard lock(mutex_);
  if (has_failed_.load(std::memory_order_relaxed)) return;
  failure_ = std::move(failure);
  has_failed_.store(true, std::memory_order_release);
}

Status HostStream::take_failure() {
  if (!has_failed_.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(mutex_);
  has_failed_.store(false, std::memory_order_relaxed);
  return std::exchange(failure_, Status());
}

std::shared_ptr<Recording> HostStream::find_recording() const {
  const std::lock_guard lock(mutex_);
  return recording_;
}

void HostStream::set_recording(std::shared_ptr<Recording> recording) {
  const std::lock_guard lock(mutex_);
  recording_ = std::move(recording);
  is_recorded_.store(recording_ != nullptr, std::memory_order_release);
}

}  // namespace tutti::device

#include "device/host/event.h"

#include "os/clock.h"

namespace tutti::device {

bool MarkTask::progress() {
  mark_->at = os::now();
  mark_->has_come.store(1, std::memory_order_release);
  return true;
}

std::shared_ptr<Mark> HostEvent::begin_record(std::shared_ptr<HostStream> stream) {
  auto mark = std::make_shared<Mark>();
  const std::lock_guard lock(mutex_);
  state_ = {.mark = mark, .stream = std::move(stream), .captured = std::nullopt};
  return mark;
}

void HostEvent::record(CapturePoint point) {
  const std::lock_guard lock(mutex_);
  state_ = {.mark = nullptr, .stream = nullptr, .captured = std::move(point)};
}

HostEvent::State HostEvent::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

}  // namespace tutti::device

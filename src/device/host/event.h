// Events of virtual devices: moments in the order of a stream that others wait for, with the time at which they came.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/deadline.h"
#include "device/host/recording.h"
#include "device/host/stream.h"
#include "device/task.h"

namespace tutti::device {

// One such moment. Shared by the event, the task that brings it about and those that wait.
struct Mark {
  std::atomic<std::uint64_t> has_come = 0;  // 1 then; release: the time and all effects before are there
  Time at;

  bool is_done() const { return has_come.load(std::memory_order_acquire) != 0; }
};

class MarkTask final : public Task {
 public:
  explicit MarkTask(std::shared_ptr<Mark> mark) : mark_(std::move(mark)) {}
  bool progress() override;

 private:
  const std::shared_ptr<Mark> mark_;
};

// Ends when the moment has come.
class WaitTask final : public Task {
 public:
  explicit WaitTask(std::shared_ptr<const Mark> mark) : mark_(std::move(mark)) {}
  bool progress() override { return mark_->is_done(); }

 private:
  const std::shared_ptr<const Mark> mark_;
};

// What a program records again and again: the last time counts. A mutex because any thread may do so.
class HostEvent {
 public:
  enum class Timing : bool { off, on };

  HostEvent(int device, Timing timing) : device_(device), timing_(timing) {}

  int device() const { return device_; }
  bool is_timed() const { return timing_ == Timing::on; }

  // A new moment for a task on that stream to bring about.
  std::shared_ptr<Mark> begin_record(std::shared_ptr<HostStream> stream);
  // The stream is being captured: the moment comes in every run of the capture, and waiting for it joins the capture.
  void record(CapturePoint point);

  struct State {
    std::shared_ptr<Mark> mark;          // nullptr: never recorded, or in a capture
    std::shared_ptr<HostStream> stream;  // on which it was recorded
    std::optional<CapturePoint> captured;
  };
  State state() const;

 private:
  const int device_;
  const Timing timing_;
  mutable std::mutex mutex_;
  State state_;
};

}  // namespace tutti::device

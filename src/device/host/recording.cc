#include "device/host/recording.h"

#include <algorithm>
#include <utility>

#include "device/host/devices.h"
#include "device/host/event.h"
#include "device/host/executor.h"
#include "device/host/stream.h"

namespace tutti::device {
namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> count = 0;
  return ++count;
}

}  // namespace

void Recording::add(Maker maker) { capture_->add(lane_, std::move(maker)); }

std::size_t CapturedWork::task_count() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(steps, [](const Step& step) { return step.kind == Step::Kind::run; }));
}

Capture::Capture(Mode mode) : id_(next_id()), mode_(mode), thread_(Devices::thread_number()) { work_.lane_count = 0; }

bool Capture::is_of_this_thread() const { return thread_ == Devices::thread_number(); }

std::shared_ptr<Capture> Capture::begin(const std::shared_ptr<HostStream>& origin, Mode mode) {
  const std::shared_ptr<Capture> capture(new Capture(mode));
  const std::lock_guard lock(capture->mutex_);
  capture->join(origin);
  return capture;
}

// With the mutex held.
std::shared_ptr<Recording> Capture::join(const std::shared_ptr<HostStream>& stream) {
  auto recording = std::make_shared<Recording>(shared_from_this(), work_.lane_count++);
  streams_.push_back(stream);
  for (auto& seen : seen_) seen.push_back(0);
  seen_.emplace_back(work_.lane_count, 0);
  stream->set_recording(recording);
  return recording;
}

void Capture::add(std::size_t lane, Recording::Maker maker) {
  const std::lock_guard lock(mutex_);
  if (!is_valid()) return;
  ++seen_[lane][lane];
  work_.steps.push_back({.kind = CapturedWork::Step::Kind::run, .lane = lane, .maker = std::move(maker)});
}

CapturePoint Capture::mark(const std::shared_ptr<Recording>& recording) {
  const std::lock_guard lock(mutex_);
  const std::size_t lane = recording->lane();
  const std::size_t index = work_.mark_count++;
  work_.steps.push_back({.kind = CapturedWork::Step::Kind::mark, .lane = lane, .mark_index = index});
  return {recording, index, seen_[lane]};
}

void Capture::wait(const std::shared_ptr<HostStream>& stream, const CapturePoint& point) {
  const std::lock_guard lock(mutex_);
  auto recording = stream->recording();
  if (recording == nullptr) recording = join(stream);
  auto& seen = seen_[recording->lane()];
  for (std::size_t lane = 0; lane < point.seen.size(); ++lane) seen[lane] = std::max(seen[lane], point.seen[lane]);
  work_.steps.push_back(
      {.kind = CapturedWork::Step::Kind::wait, .lane = recording->lane(), .mark_index = point.mark_index});
}

Capture::Outcome Capture::end(CapturedWork& work) {
  const std::lock_guard lock(mutex_);
  for (const auto& weak : streams_)
    if (const auto stream = weak.lock()) stream->set_recording(nullptr);
  if (!is_valid()) return Outcome::invalid;
  invalidate();  // an event may still know it
  for (std::size_t lane = 0; lane < work_.lane_count; ++lane)
    if (seen_[0][lane] != seen_[lane][lane]) return Outcome::unjoined;
  work = std::move(work_);
  return Outcome::complete;
}

void Replay::launch(std::span<const std::shared_ptr<HostStream>> order) {
  const std::vector<std::shared_ptr<HostStream>> launching(order.begin(), order.end());
  struct Placed {
    std::shared_ptr<Task> task;
    std::vector<std::shared_ptr<HostStream>> streams;
  };
  std::vector<Placed> placed;
  std::vector<std::shared_ptr<Mark>> marks(work_->mark_count + 2);
  for (auto& mark : marks) mark = std::make_shared<Mark>();
  const auto& begin = marks[work_->mark_count];
  const auto& end = marks[work_->mark_count + 1];

  const std::lock_guard lock(mutex_);
  if (last_end_ != nullptr && !last_end_->is_done())
    placed.push_back({std::make_shared<WaitTask>(last_end_), launching});
  if (work_->lane_count > 1) placed.push_back({std::make_shared<MarkTask>(begin), launching});
  std::vector<std::vector<std::shared_ptr<HostStream>>> lanes = {launching};
  while (lanes.size() < work_->lane_count) {
    lanes.push_back({std::make_shared<HostStream>(launching[0]->device(), HostStream::Kind::non_blocking, 0)});
    placed.push_back({std::make_shared<WaitTask>(begin), lanes.back()});
  }
  for (const auto& step : work_->steps) {
    const auto& streams = lanes[step.lane];
    switch (step.kind) {
      case CapturedWork::Step::Kind::run: placed.push_back({step.maker(), streams}); break;
      case CapturedWork::Step::Kind::mark:
        placed.push_back({std::make_shared<MarkTask>(marks[step.mark_index]), streams});
        break;
      case CapturedWork::Step::Kind::wait:
        placed.push_back({std::make_shared<WaitTask>(marks[step.mark_index]), streams});
        break;
    }
  }
  placed.push_back({std::make_shared<MarkTask>(end), launching});
  last_end_ = end;
  std::vector<std::shared_ptr<Task>> tasks;
  for (const auto& [task, streams] : placed) Executor::of_process().place(tasks.emplace_back(task), streams);
  Executor::of_process().begin_all(tasks);
}

}  // namespace tutti::device

#include "comm/bundle.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

#include "device/host/executor.h"

namespace tutti::comm {
namespace {

class BundleTask final : public device::Task {
 public:
  BundleTask(Bundle bundle, std::function<void(const Status&)> on_end)
      : bundle_(std::move(bundle)), on_end_(std::move(on_end)) {}

  bool progress() override {
    if (!waiting_) {
      bundle_.settle();
      waiting_.emplace(bundle_.pending());
    }
    if (!waiting_->progress()) return false;
    on_end_(waiting_->status());
    return true;
  }
  void look() override {
    if (waiting_) waiting_->look();
  }
  bool sleep(Deadline until) override {
    if (!waiting_ || bundle_.pending().empty()) return false;
    waiting_->sleep(until);
    return true;
  }
  std::uint64_t steps() const override { return waiting_ ? waiting_->steps() : 0; }
  int polls() const override { return bundle_.pending().empty() ? 1 : bundle_.pending()[0].side->polls(); }

 private:
  Bundle bundle_;
  std::function<void(const Status&)> on_end_;
  std::optional<Waiting> waiting_;
};

// One call. Most of them end at the first look, or at one of the next few.
class CallTask final : public device::Task {
 public:
  explicit CallTask(const Single& single)
      : side_(single.side),
        call_(side_->local(single.call)),
        operation_(side_->track_of(single.call), call_),
        pending_{{side_.get(), &operation_}},
        stream_(*single.stream),
        ending_(single.ending) {}

  bool progress() override {
    if (!waiting_) {
      if (operation_.progress() && operation_.status()) [[likely]]
        return end({});
      waiting_.emplace(pending_);
      return false;
    }
    return waiting_->progress() && end(waiting_->status());
  }
  void look() override {
    if (waiting_) waiting_->look();
  }
  bool sleep(Deadline until) override {
    if (waiting_) waiting_->sleep(until);
    return waiting_.has_value();
  }
  std::uint64_t steps() const override { return waiting_ ? waiting_->steps() : 0; }
  int polls() const override { return side_->polls(); }

 private:
  bool end(const Status& status) {
    ending_->ended(status, stream_);
    return true;
  }

  const std::shared_ptr<Side> side_;
  const Call call_;
  Operation operation_;
  const std::array<Pending, 1> pending_;
  device::HostStream& stream_;  // which the task stands in
  const std::shared_ptr<CallEnding> ending_;
  std::optional<Waiting> waiting_;
};

// Whoever submits to some communicators keeps others from taking a turn in between.
class Order {
 public:
  void add(const std::vector<Entry>& calls) {
    for (const Entry& entry : calls) sides_.push_back(entry.side);
  }
  void lock() {
    const auto address = [](const auto& side) { return side.get(); };
    std::ranges::sort(sides_, {}, address);
    // Not that of ranges, whose subrange Clang 14 does not compile.
    sides_.erase(std::unique(sides_.begin(), sides_.end()), sides_.end());
    for (const auto& side : sides_) side->submitting().lock();
  }
  ~Order() {
    for (const auto& side : sides_) side->submitting().unlock();
  }

 private:
  std::vector<std::shared_ptr<Side>> sides_;
};

}  // namespace

void Bundle::add(Entry entry) {
  if (Side::is_nothing(entry.call)) return;
  Side& side = *entry.side;
  Track& track = side.track_of(entry.call);
  entry.call = side.local(entry.call);
  parts_.push_back(std::make_unique<Part>(std::move(entry), track));
  pending_.push_back({&side, &parts_.back()->operation});
}

void Bundle::settle() {
  for (const auto& part : parts_)
    if (part->given.factor) part->given.call.reduction.factor = part->given.factor();
}

std::shared_ptr<device::Task> task_of(Submission submission) {
  Bundle bundle;
  for (Entry& entry : submission.calls) bundle.add(std::move(entry));
  return std::make_shared<BundleTask>(std::move(bundle), std::move(submission.on_end));
}

void submit(Submission submission) {
  std::shared_ptr<device::Task> task;
  {
    Order order;
    order.add(submission.calls);
    order.lock();
    const auto streams = std::move(submission.streams);
    task = task_of(std::move(submission));
    device::Executor::of_process().place(task, streams);
  }
  device::Executor::of_process().begin(task);
}

namespace {

std::shared_ptr<device::Task> place(const Single& single) {
  const std::lock_guard lock(single.side->submitting());
  std::shared_ptr<device::Task> task = std::make_shared<CallTask>(single);
  device::Executor::of_process().place(task, {&single.stream, 1});
  return task;
}

}  // namespace

void submit_single(const Single& single) { device::Executor::of_process().begin(place(single)); }

void submit_singles(std::span<const Single> singles) {
  std::vector<std::shared_ptr<device::Task>> tasks;
  tasks.reserve(singles.size());
  for (const Single& single : singles) tasks.push_back(place(single));
  device::Executor::of_process().begin_all(tasks);
}

void submit_all(std::vector<Submission> submissions) {
  std::vector<std::shared_ptr<device::Task>> tasks;
  {
    Order order;
    for (const Submission& submission : submissions) order.add(submission.calls);
    order.lock();
    for (Submission& submission : submissions) {
      const auto streams = std::move(submission.streams);
      tasks.push_back(task_of(std::move(submission)));
      device::Executor::of_process().place(tasks.back(), streams);
    }
  }
  for (const auto& task : tasks) device::Executor::of_process().begin(task);
}

}  // namespace tutti::comm

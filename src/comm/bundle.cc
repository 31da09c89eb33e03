#include "comm/bundle.h"

#include <span>
#include <utility>

#include "device/host/executor.h"

namespace tutti::comm {
namespace {

class BundleTask final : public device::Task {
 public:
  BundleTask(Bundle bundle, std::function<void(const Status&)> on_end)
      : bundle_(std::move(bundle)), on_end_(std::move(on_end)) {}

  void take_place() noexcept override { bundle_.take_places(); }
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

// How often one call is looked at before the clock is: most end at the first look, or at one of the next few.
constexpr int kLooksWithoutClock = 16;

class CallTask final : public device::Task {
 public:
  CallTask(Side& side, const Call& call, device::HostStream& stream, std::shared_ptr<CallEnding> ending)
      : side_(side),
        track_(side.track_of(call)),
        call_(side.local(call)),
        stream_(stream),
        ending_(std::move(ending)) {}

  void take_place() noexcept override { operation_.emplace(track_, call_); }
  bool progress() override {
    if (waiting_) return waiting_->progress() && end(waiting_->status());
    const bool has_ended = operation_->progress();
    if (has_ended && operation_->status()) [[likely]]
      return end({});
    if (has_ended || ++looks_ == kLooksWithoutClock) wait();
    return false;
  }
  void look() override {
    wait();
    waiting_->look();
  }
  bool sleep(Deadline until) override {
    wait();
    waiting_->sleep(until);
    return true;
  }
  std::uint64_t steps() const override { return operation_->steps_done(); }
  int polls() const override { return side_.polls(); }

 private:
  // From now on with all that may go wrong.
  void wait() {
    if (waiting_) return;
    pending_ = {&side_, &*operation_};
    waiting_.emplace(std::span(&pending_, 1));
  }
  bool end(const Status& status) {
    ending_->ended(status, stream_);
    return true;
  }

  Side& side_;
  Track& track_;
  const Call call_;
  device::HostStream& stream_;  // which the task stands in
  const std::shared_ptr<CallEnding> ending_;
  std::optional<Operation> operation_;  // from its place on
  int looks_ = 0;
  Pending pending_;
  std::optional<Waiting> waiting_;
};

}  // namespace

void Bundle::add(Entry entry) {
  if (Side::is_nothing(entry.call)) return;
  Track& track = entry.side->track_of(entry.call);
  entry.call = entry.side->local(entry.call);
  parts_.push_back(std::make_unique<Part>(std::move(entry), track));
  pending_.reserve(parts_.size());
}

void Bundle::take_places() noexcept {
  for (const auto& part : parts_)
    pending_.push_back({part->given.side.get(), &part->operation.emplace(part->track, part->given.call)});
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

std::shared_ptr<device::Task> task_of(Side& side, const Call& call, device::HostStream& stream,
                                      std::shared_ptr<CallEnding> ending) {
  return std::make_shared<CallTask>(side, call, stream, std::move(ending));
}

void submit_all(std::vector<Submission> submissions) {
  std::vector<std::shared_ptr<device::Task>> tasks;
  for (Submission& submission : submissions) {
    const auto streams = std::move(submission.streams);
    device::Executor::of_process().place(tasks.emplace_back(task_of(std::move(submission))), streams);
  }
  device::Executor::of_process().begin_all(tasks);
}

}  // namespace tutti::comm

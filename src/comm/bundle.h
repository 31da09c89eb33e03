// Calls that run together, perhaps of several communicators: on the thread that waits for them, or as a task of
// streams.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "comm/operation.h"
#include "comm/side.h"
#include "comm/waiting.h"
#include "device/task.h"

namespace tutti::comm {

class Bundle {
 public:
  // A valid call; takes its place in the order of calls.
  void add(std::shared_ptr<Side> side, const Call& call) {
    if (Side::is_nothing(call)) return;
    calls_.push_back(side->local(call));
    operations_.push_back(std::make_unique<Operation>(side->track_of(call), calls_.back()));
    sides_.push_back(std::move(side));
    pending_.push_back({sides_.back().get(), operations_.back().get()});
  }
  bool is_empty() const { return pending_.empty(); }
  std::span<const Pending> pending() const { return pending_; }
  // The first failure. It ends the communicators of all calls that had not ended: half-done, they cannot go on.
  Status complete() const { return comm::complete(pending_); }

 private:
  std::vector<std::shared_ptr<Side>> sides_;
  std::deque<Call> calls_;  // operations refer to them
  std::vector<std::unique_ptr<Operation>> operations_;
  std::vector<Pending> pending_;
};

// The same when their turn in some streams has come.
class BundleTask final : public device::Task {
 public:
  // `on_end` is called once, before the streams go on.
  BundleTask(Bundle bundle, std::function<void(const Status&)> on_end)
      : bundle_(std::move(bundle)), on_end_(std::move(on_end)) {}

  bool progress() override {
    if (!waiting_) waiting_.emplace(bundle_.pending());
    if (!waiting_->progress()) return false;
    on_end_(waiting_->status());
    return true;
  }
  void look() override {
    if (waiting_) waiting_->look();
  }
  bool sleep(Deadline until) override {
    if (!waiting_) return false;
    waiting_->sleep(until);
    return true;
  }
  std::uint64_t steps() const override { return waiting_ ? waiting_->steps() : 0; }
  int polls() const override { return bundle_.is_empty() ? 1 : bundle_.pending()[0].side->polls(); }

 private:
  Bundle bundle_;
  std::function<void(const Status&)> on_end_;
  std::optional<Waiting> waiting_;
};

}  // namespace tutti::comm

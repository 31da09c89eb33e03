// Calls that run together on one thread, perhaps of several communicators.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "comm/operation.h"
#include "comm/side.h"
#include "comm/waiting.h"

namespace tutti::comm {

class Bundle {
 public:
  // A valid call; takes its place in the order of calls.
  void add(std::shared_ptr<Side> side, const Call& call) {
    if (Side::is_nothing(call)) return;
    calls_.push_back(side->local(call));
    operations_.push_back(std::make_unique<Operation>(side->track_of(call), calls_.back()));
    sides_.push_back(std::move(side));
  }
  // The first failure. It ends the communicators of all calls that had not ended: half-done, they cannot go on.
  Status complete() const {
    std::vector<Pending> pending;
    for (std::size_t i = 0; i < sides_.size(); ++i) pending.push_back({sides_[i].get(), operations_[i].get()});
    return comm::complete(pending);
  }

 private:
  std::vector<std::shared_ptr<Side>> sides_;
  std::deque<Call> calls_;  // operations refer to them
  std::vector<std::unique_ptr<Operation>> operations_;
};

}  // namespace tutti::comm

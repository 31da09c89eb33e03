// Calls that run together, perhaps of several communicators: on the thread that waits for them, or as a task of
// streams.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/operation.h"
#include "comm/side.h"
#include "comm/waiting.h"
#include "device/host/stream.h"

namespace tutti::comm {

// One call of a communicator.
struct Entry {
  std::shared_ptr<Side> side;
  Call call;
  // Instead of the call's factor: asked when its turn has come, because it may not be known before.
  std::function<double()> factor = {};
  std::shared_ptr<const void> keeps = {};  // what the call points to, until it has ended
};

class Bundle {
 public:
  // A valid call.
  void add(Entry entry);
  // All take their places in the order of calls of their communicators. To be called once, before all that follows.
  void take_places() noexcept;
  std::span<const Pending> pending() const { return pending_; }
  // Asks for the factors that were not known before. To be called before the first call begins.
  void settle();
  // The first failure. It ends the communicators of all calls that had not ended: half-done, they cannot go on.
  Status complete() const { return comm::complete(pending_); }

 private:
  struct Part {
    Part(Entry entry, Track& goes_through) : given(std::move(entry)), track(goes_through) {}
    Entry given;
    Track& track;
    std::optional<Operation> operation;  // from its place on; refers to the call
  };
  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<Pending> pending_;
};

// Calls that run together when their turn in some streams has come.
struct Submission {
  std::vector<Entry> calls;
  std::vector<std::shared_ptr<device::HostStream>> streams;
  std::function<void(const Status&)> on_end;  // called once, before the streams go on
};

// Who wants to know how a call has ended, before its stream goes on.
class CallEnding {
 public:
  virtual ~CallEnding() = default;
  virtual void ended(const Status& status, device::HostStream& stream) = 0;
};

// A valid call as a task of one stream, at a fraction of the cost of a submission. `ending` keeps the side.
std::shared_ptr<device::Task> task_of(Side& side, const Call& call, device::HostStream& stream,
                                      std::shared_ptr<CallEnding> ending);
// For whoever submits it later, or in a group.
std::shared_ptr<device::Task> task_of(Submission submission);
// All of them valid. Calls of one communicator stand in its order as they stand in that of their streams, whichever
// threads submit them.
void submit_all(std::vector<Submission> submissions);

}  // namespace tutti::comm

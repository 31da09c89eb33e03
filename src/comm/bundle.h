// Calls that run together, perhaps of several communicators: on the thread that waits for them, or as a task of
// streams.
#pragma once

#include <functional>
#include <memory>
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
  // A valid call; takes its place in the order of calls.
  void add(Entry entry);
  std::span<const Pending> pending() const { return pending_; }
  // Asks for the factors that were not known before. To be called before the first call begins.
  void settle();
  // The first failure. It ends the communicators of all calls that had not ended: half-done, they cannot go on.
  Status complete() const { return comm::complete(pending_); }

 private:
  struct Part {
    Part(Entry entry, Track& track) : given(std::move(entry)), operation(track, given.call) {}
    Entry given;
    Operation operation;  // refers to the call
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

// One valid call on one stream: the same as the next, at a fraction of the cost.
void submit_one(std::shared_ptr<Side> side, const Call& call, const std::shared_ptr<device::HostStream>& stream,
                std::shared_ptr<CallEnding> ending);

// All of them valid. Calls of one communicator stand in its order as they stand in that of their streams, whichever
// threads submit them.
void submit(Submission submission);
// One that somebody else submits later. Takes its place in the order of calls now.
std::shared_ptr<device::Task> task_of(Submission submission);
void submit_all(std::vector<Submission> submissions);

}  // namespace tutti::comm

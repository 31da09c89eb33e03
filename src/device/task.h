// One thing that streams run when its turn has come: a copy, a wait for an event, a collective.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/deadline.h"

namespace tutti::device {

class HostStream;

// Called by one thread at a time, and by any thread: whoever waits for a stream runs what is on it.
class Task {
 public:
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual ~Task() = default;

  // Called once, as it gets its places in the streams and before another can get one behind it there: what has an order
  // of its own, as calls of a communicator do, takes its place in that one as well.
  virtual void take_place() noexcept {}
  // Never waits for anything; true: it has ended. Called again and again until then.
  virtual bool progress() = 0;
  // Now and then while nothing moves: to find out that a peer has died or that time is up. progress() says what
  // follows.
  virtual void look() {}
  // Sleeps until something may have changed, at most until then; where this is the only task that is not done. False:
  // it knows of nothing to sleep on.
  virtual bool sleep(Deadline until) {
    static_cast<void>(until);
    return false;
  }
  // Grows as long as something happens: while it does, threads do not sleep.
  virtual std::uint64_t steps() const { return 0; }
  // Whether only threads of the executor may run it: a program's own function may wait for what the program does next.
  virtual bool is_for_workers() const { return false; }
  // How often to look before others get the core.
  virtual int polls() const { return 1; }

 private:
  friend class Executor;
  std::shared_ptr<HostStream> stream_;               // whose order it stands in
  std::vector<std::shared_ptr<HostStream>> others_;  // likewise; hardly ever any
  std::atomic<std::size_t> not_first_in_ = 0;        // of them
  std::atomic<bool> is_claimed_ = true;              // by the thread that runs it now, at first by its maker
  std::atomic<bool> has_ended_ = false;              // it stays claimed then
};

// Done at once when its turn has come.
class FunctionTask final : public Task {
 public:
  enum class By : bool { anybody, workers };
  explicit FunctionTask(std::function<void()> function, By by = By::anybody)
      : function_(std::move(function)), by_(by) {}
  bool is_for_workers() const override { return by_ == By::workers; }
  bool progress() override {
    function_();
    return true;
  }

 private:
  std::function<void()> function_;
  By by_;
};

}  // namespace tutti::device

#include "device/host/executor.h"

#include <algorithm>
#include <chrono>

#include "device/host/stream.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/machine.h"
#include "os/memory_barrier.h"
#include "os/relax.h"

namespace tutti::device {
namespace {

using namespace std::chrono_literals;

// As in comm/waiting.cc: yielding finds the next thread at once, sleeping takes several microseconds.
constexpr std::chrono::nanoseconds kYieldFor = 1ms;
constexpr int kYieldsPerLook = 16;  // at the clock
constexpr std::chrono::nanoseconds kNapMin = 50us;
constexpr std::chrono::nanoseconds kNapMax = 10ms;
// Looks after saying "I sleep" and before doing so: more than a core keeps what it has written to itself.
constexpr int kLastLooks = 200;
// Most programs submit and wait soon after: workers leave it to the waiting thread for so long.
constexpr std::chrono::nanoseconds kHoldBackMin = 100us;
constexpr std::chrono::nanoseconds kHoldBackMax = 1ms;
// After so long without a task workers sleep until they are called, which costs the caller a system call.
constexpr std::chrono::nanoseconds kLinger = 10ms;
constexpr std::size_t kWorkersMax = 16;

}  // namespace

// What one thread knows while it runs tasks: the streams, and which task is first in each that is not idle.
class Executor::Pass {
 public:
  enum class Who : bool { caller, worker };

  Pass(Executor& executor, Who who) : executor_(executor), who_(who) {}

  // For a thread that uses one again and again, which spares it finding out the streams each time.
  void begin() { is_used_ = true; }
  void end() {
    for (Seen& seen : seen_) seen.task.reset();
    moved_ = {};
    is_used_ = false;
  }
  bool is_used() const { return is_used_; }

  // Tries all that can be run; true: one of them has ended.
  bool run() {
    look();
    bool has_ended = false;
    for (Seen& seen : seen_)
      if (may_run(seen)) has_ended = executor_.attempt(*seen.task) || has_ended;
    return has_ended;
  }

  // Tasks that this thread may run now, as of the last look; a task of several streams counts once.
  std::vector<std::shared_ptr<Task>> tasks() const {
    std::vector<std::shared_ptr<Task>> tasks;
    for (const Seen& seen : seen_)
      if (may_run(seen) && std::ranges::find(tasks, seen.task) == tasks.end()) tasks.push_back(seen.task);
    return tasks;
  }

  // Finds out which tasks are first; how many streams are not idle.
  std::size_t look() {
    refresh();
    std::size_t busy = 0;
    for (Seen& seen : seen_) {
      HostStream& stream = *seen.stream;
      if (stream.is_idle()) {
        seen.task.reset();
        continue;
      }
      ++busy;
      const std::uint64_t finished = stream.finished_.load(std::memory_order_acquire);
      if (seen.task != nullptr && seen.finished == finished) continue;
      const std::lock_guard lock(stream.tasks_lock_);
      seen.finished = stream.finished_.load(std::memory_order_relaxed);
      seen.task = stream.tasks_.empty() ? nullptr : stream.tasks_.front();
    }
    return busy;
  }

  // Whether the last step was done too long ago for yielding.
  bool has_stalled() {
    const Time now = os::now();
    std::uint64_t steps = 0;
    for (Seen& seen : seen_) {
      if (may_run(seen)) ask_steps(seen);
      steps += seen.stream->finished_.load(std::memory_order_relaxed) + seen.steps;
    }
    if (std::exchange(steps_, steps) != steps || moved_ == Time{}) moved_ = now;
    return Deadline::after(moved_, kYieldFor).has_passed(now);
  }
  Time moved() const { return moved_; }

 private:
  struct Seen {
    std::shared_ptr<HostStream> stream;
    std::shared_ptr<Task> task;  // nullptr: there is none
    std::uint64_t finished = 0;  // of the stream when that task was first
    std::uint64_t steps = 0;     // of the task when it could last be asked
  };

  // Nothing new of one that another thread runs now.
  static void ask_steps(Seen& seen) {
    if (seen.task->is_claimed_.exchange(true, std::memory_order_acquire)) return;
    seen.steps = seen.task->steps();
    seen.task->is_claimed_.store(false, std::memory_order_release);
  }

  bool may_run(const Seen& seen) const {
    return seen.task != nullptr && seen.task->not_first_in_.load(std::memory_order_acquire) == 0 &&
           (who_ == Who::worker || !seen.task->is_for_workers());
  }

  void refresh() {
    if (executor_.version_.load(std::memory_order_acquire) == version_) return;
    const std::lock_guard lock(executor_.mutex_);
    version_ = executor_.version_.load(std::memory_order_relaxed);
    seen_.clear();
    std::erase_if(executor_.streams_, [](const auto& stream) { return stream.expired(); });
    for (const auto& weak : executor_.streams_)
      if (auto stream = weak.lock()) seen_.push_back({std::move(stream), nullptr, 0, 0});
  }

  Executor& executor_;
  Who who_;
  std::uint64_t version_ = 0;
  std::vector<Seen> seen_;
  std::uint64_t steps_ = 0;
  Time moved_;  // when something was last seen to happen; 0: nobody has looked yet
  bool is_used_ = false;
};

Executor& Executor::of_process() {
  // Never destroyed: threads of the program may wait for streams until the very end.
  static Executor& executor = *new Executor;
  return executor;
}

Executor::Executor() : cores_(static_cast<std::size_t>(os::this_machine().usable_cores)) {}

// With the lock of the stream held.
void Executor::add(const std::shared_ptr<HostStream>& stream, std::shared_ptr<Task> task) {
  if (!stream->tasks_.empty()) task->not_first_in_.fetch_add(1, std::memory_order_relaxed);
  stream->tasks_.push_back(std::move(task));
  stream->added_.store(stream->added_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  if (std::exchange(stream->is_known_, true)) return;
  const std::lock_guard lock(mutex_);
  streams_.push_back(stream);
  version_.fetch_add(1, std::memory_order_release);
}

void Executor::place(std::shared_ptr<Task> task, std::shared_ptr<HostStream> stream) {
  Task& placed = *task;  // stays where it is, because nobody else runs a task that is claimed
  if (placed.is_for_workers()) reserved_.fetch_add(1, std::memory_order_relaxed);
  placed.stream_ = std::move(stream);
  const std::lock_guard lock(placed.stream_->tasks_lock_);
  placed.take_place();
  add(placed.stream_, std::move(task));
}

// Tasks of several streams take their places in all of them at once: two that did it one after the other could each
// wait for the other.
void Executor::place(std::shared_ptr<Task> task, std::span<const std::shared_ptr<HostStream>> streams) {
  if (streams.size() == 1) return place(std::move(task), streams.front());
  if (task->is_for_workers()) reserved_.fetch_add(1, std::memory_order_relaxed);
  task->stream_ = streams.front();
  task->others_.assign(streams.begin() + 1, streams.end());
  std::vector<std::shared_ptr<HostStream>> all(streams.begin(), streams.end());
  std::ranges::sort(all);
  for (const auto& stream : all) stream->tasks_lock_.lock();
  task->take_place();
  for (const auto& stream : all) add(stream, task);
  for (const auto& stream : all) stream->tasks_lock_.unlock();
}

void Executor::submit(std::shared_ptr<Task> task, std::shared_ptr<HostStream> stream) {
  Task& placed = *task;
  place(std::move(task), std::move(stream));
  if (!begin(placed)) call_workers();
}

void Executor::submit(std::shared_ptr<Task> task, std::span<const std::shared_ptr<HostStream>> streams) {
  Task& placed = *task;
  place(std::move(task), streams);
  if (!begin(placed)) call_workers();
}

// Some may wait for others of them, so those that come first are tried again once the last has begun.
void Executor::begin_all(std::span<Task*> placed) {
  for (Task*& task : placed) {
    if (!may_begin(*task) || !task->progress()) continue;
    finish(*task);
    task = nullptr;
  }
  bool are_done = true;
  for (Task* const task : placed) are_done = (task == nullptr || begin(*task)) && are_done;
  if (!are_done) call_workers();
}

bool Executor::may_begin(const Task& task) {
  return task.not_first_in_.load(std::memory_order_acquire) == 0 && !task.is_for_workers();
}

// A try of one that this thread has placed, and the last: true when it has ended, and if not, it may be gone any
// moment.
bool Executor::begin(Task& task) { return run_claimed(task, may_begin(task) ? 1 : 0); }

// True when it has ended.
bool Executor::attempt(Task& task) {
  return !task.is_claimed_.exchange(true, std::memory_order_acquire) && run_claimed(task, 1);
}

bool Executor::run_claimed(Task& task, int looks) {
  for (int i = 0; i < looks; ++i) {
    if (!task.progress()) continue;
    finish(task);  // stays claimed: others may still have seen it
    return true;
  }
  // release: pairs with the acquire of the next claim, so that the next thread sees what this one did
  task.is_claimed_.store(false, std::memory_order_release);
  return false;
}

std::shared_ptr<Task> Executor::advance(HostStream& stream) {
  const std::lock_guard lock(stream.tasks_lock_);
  auto ended = std::move(stream.tasks_.front());
  stream.tasks_.pop_front();
  if (!stream.tasks_.empty()) stream.tasks_.front()->not_first_in_.fetch_sub(1, std::memory_order_release);
  stream.finished_.store(stream.finished_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  return ended;
}

void Executor::finish(Task& task) {
  const std::shared_ptr<HostStream> stream = std::move(task.stream_);
  const auto others = std::move(task.others_);
  if (task.is_for_workers()) reserved_.fetch_sub(1, std::memory_order_relaxed);
  const auto ended = advance(*stream);  // which keeps it until the end of this
  for (const auto& other : others) advance(*other);
  const auto is_busy = [](const auto& one) { return !one->is_idle(); };
  if (is_busy(stream) || std::ranges::any_of(others, is_busy)) call_workers();
  ring_sleepers();
}

// Without a fence, which every task would pay for: sleepers look again for a while after they have said that they
// sleep, and what crosses all the same costs one nap.
void Executor::ring_sleepers() {
  if (sleepers_.load(std::memory_order_relaxed) == 0) return;
  news_.fetch_add(1, std::memory_order_release);
  os::futex_wake_all(news_);
}

// Nothing has moved for a while: perhaps it never will again, so tasks look for the reason before this thread sleeps.
template <class Predicate>
void Executor::rest(Pass& pass, Deadline deadline, const Predicate& is_reached) {
  const auto tasks = pass.tasks();
  for (const auto& task : tasks) {
    if (task->is_claimed_.exchange(true, std::memory_order_acquire)) continue;
    task->look();
    task->is_claimed_.store(false, std::memory_order_release);
  }
  const Time now = os::now();
  const std::chrono::nanoseconds quiet(now.ns - pass.moved().ns);
  const Deadline nap = Deadline::after(now, std::clamp<std::chrono::nanoseconds>(quiet / 16, kNapMin, kNapMax));
  const Deadline until{std::min(nap.at, deadline.at)};
  if (tasks.size() == 1 && !tasks[0]->is_claimed_.exchange(true, std::memory_order_acquire)) {
    const bool has_slept = tasks[0]->sleep(until);
    tasks[0]->is_claimed_.store(false, std::memory_order_release);
    if (has_slept) return;
  }
  const std::uint32_t seen = news_.load(std::memory_order_acquire);
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  bool is_over = false;
  for (int i = 0; i < kLastLooks && !is_over; ++i) is_over = is_reached();
  if (!is_over) os::futex_wait(news_, seen, until);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

// What this thread waits for is most likely a task that it has just added: it looks at that alone for a while.
void Executor::watch(HostStream& stream) {
  Task* task = nullptr;
  {
    const std::lock_guard lock(stream.tasks_lock_);
    if (stream.tasks_.size() != 1) return;
    task = stream.tasks_.front().get();
    if (!may_begin(*task)) return;
    if (task->is_claimed_.exchange(true, std::memory_order_acquire)) return;
  }
  run_claimed(*task, task->polls());
}

bool Executor::synchronize(HostStream& stream, Deadline deadline) {
  const std::uint64_t wanted = stream.added_.load(std::memory_order_acquire);
  if (stream.finished_.load(std::memory_order_acquire) >= wanted) return true;
  watch(stream);
  return drive(stream.finished_, wanted, deadline);
}

bool Executor::drive(const std::atomic<std::uint64_t>& counter, std::uint64_t wanted, Deadline deadline) {
  if (counter.load(std::memory_order_acquire) >= wanted) return true;
  thread_local Pass kept(*this, Pass::Who::caller);
  if (!kept.is_used()) {
    kept.begin();
    const bool is_in_time = drive(kept, counter, wanted, deadline);
    kept.end();
    return is_in_time;
  }
  Pass pass(*this, Pass::Who::caller);  // a task that this thread runs waits for others
  return drive(pass, counter, wanted, deadline);
}

bool Executor::drive(Pass& pass, const std::atomic<std::uint64_t>& counter, std::uint64_t wanted, Deadline deadline) {
  const auto is_reached = [&] { return counter.load(std::memory_order_acquire) >= wanted; };
  bool is_counted = false;  // who waits but a moment does not write where all look
  bool is_in_time = true;
  for (int round = 1; !is_reached(); ++round) {
    if (pass.run() || is_reached()) continue;
    os::yield_core();
    if (round % kYieldsPerLook != 0) continue;
    if (!std::exchange(is_counted, true)) drivers_.fetch_add(1, std::memory_order_relaxed);
    if (pass.has_stalled()) rest(pass, deadline, is_reached);
    is_in_time = !deadline.has_passed(os::now());
    if (!is_in_time) break;
  }
  if (is_counted) drivers_.fetch_sub(1, std::memory_order_relaxed);
  return is_in_time || is_reached();
}

// A worker that is on the watch finds new tasks by itself.
void Executor::call_workers() {
  // Either this sees that no worker watches, or the worker sees the task before it goes to sleep: it waits for a
  // barrier on all cores, so that none is needed here.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const bool is_urgent = reserved_.load(std::memory_order_relaxed) > 0;
  if (is_worker_awake_.load(std::memory_order_relaxed) && !is_urgent) return;
  is_worker_awake_.store(true, std::memory_order_relaxed);
  std::call_once(start_workers_, [this] {
    for (std::size_t i = 0; i < std::clamp<std::size_t>(cores_, 1, kWorkersMax); ++i) {
      auto thread = os::Thread::start("tutti-device", [this, i] { work(i); });
      // Without threads of its own, tasks run while the program waits for them.
      if (thread) workers_.push_back(std::move(*thread));
    }
  });
  calls_.fetch_add(1, std::memory_order_release);
  os::futex_wake_all(calls_);
}

void Executor::work(std::size_t index) {
  Pass pass(*this, Pass::Who::worker);
  for (std::uint32_t seen = 0;;) {
    while (calls_.load(std::memory_order_acquire) == seen) os::futex_wait(calls_, seen, Deadline::never());
    auto hold_back = kHoldBackMin;
    for (Time busy = os::now(); !Deadline::after(busy, kLinger).has_passed(os::now());) {
      seen = calls_.load(std::memory_order_acquire);
      const std::size_t streams = pass.look();
      if (streams > 0) busy = os::now();
      // What the threads of the program may run is left to them at first, and for as long as there are enough of them.
      const bool is_due = hold_back > kHoldBackMin && streams > drivers_.load(std::memory_order_relaxed);
      if (is_due || reserved_.load(std::memory_order_relaxed) > 0) help(pass);
      os::futex_wait(calls_, seen, Deadline::after(os::now(), hold_back));
      hold_back = std::min(2 * hold_back, kHoldBackMax);
    }
    // The first keeps watch for all.
    if (index != 0) continue;
    is_worker_awake_.store(false, std::memory_order_relaxed);
    os::await_barrier_everywhere();
    if (pass.look() > 0) call_workers();
  }
}

// Until there is nothing to do or enough others do it.
void Executor::help(Pass& pass) {
  drivers_.fetch_add(1, std::memory_order_relaxed);
  for (int round = 1;; ++round) {
    if (pass.run()) continue;
    const std::size_t streams = pass.look();
    const bool is_needed = streams >= drivers_.load(std::memory_order_relaxed) || reserved_.load() > 0;
    if (streams == 0 || !is_needed) break;
    os::yield_core();
    if (round % kYieldsPerLook == 0 && pass.has_stalled()) rest(pass, Deadline::never(), [] { return false; });
  }
  drivers_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace tutti::device

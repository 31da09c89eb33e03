#include "device/host/executor.h"

#include <algorithm>
#include <chrono>

#include "device/host/stream.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/machine.h"
#include "os/relax.h"

namespace tutti::device {
namespace {

using namespace std::chrono_literals;

// As in comm/waiting.cc: yielding finds the next thread at once, sleeping takes several microseconds.
constexpr std::chrono::nanoseconds kYieldFor = 1ms;
constexpr int kYieldsPerLook = 16;  // at the clock
constexpr std::chrono::nanoseconds kNapMin = 50us;
constexpr std::chrono::nanoseconds kNapMax = 10ms;
// Most programs submit and wait soon after: workers leave it to the waiting thread for so long.
constexpr std::chrono::nanoseconds kHoldBackMin = 100us;
constexpr std::chrono::nanoseconds kHoldBackMax = 1ms;
// After so long without a task workers sleep until they are called, which costs the caller a system call.
constexpr std::chrono::nanoseconds kLinger = 10ms;
constexpr std::size_t kWorkersMax = 16;

}  // namespace

// What one thread knows while it runs tasks.
struct Executor::Pass {
  std::vector<std::shared_ptr<Task>> tasks;
  std::uint64_t version = 0;
  std::uint64_t steps = 0;
  Time moved = os::now();  // when something was last seen to happen
};

Executor& Executor::of_process() {
  // Never destroyed: threads of the program may wait for streams until the very end.
  static Executor& executor = *new Executor;
  return executor;
}

Executor::Executor() : cores_(static_cast<std::size_t>(os::this_machine().usable_cores)) {}

void Executor::place(const std::shared_ptr<Task>& task, std::span<const std::shared_ptr<HostStream>> streams) {
  if (!streams.empty()) {
    task->stream_ = streams.front();
    task->others_.assign(streams.begin() + 1, streams.end());
  }
  const std::lock_guard lock(mutex_);
  for (const auto& stream : streams) {
    if (!stream->tasks_.empty()) task->not_first_in_.fetch_add(1, std::memory_order_relaxed);
    stream->tasks_.push_back(task);
    stream->added_.store(stream->added_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  if (task->not_first_in_.load(std::memory_order_relaxed) == 0) make_ready(task);
}

void Executor::make_ready(const std::shared_ptr<Task>& task) {
  ready_.push_back(task);
  ready_count_.store(ready_.size(), std::memory_order_relaxed);
  version_.fetch_add(1, std::memory_order_release);
  if (!task->is_for_workers()) return;
  reserved_.fetch_add(1, std::memory_order_relaxed);
  is_worker_awake_.store(false, std::memory_order_relaxed);  // they are called even if one is on the watch
}

void Executor::begin(const std::shared_ptr<Task>& task) {
  // Not first yet: then it is tried when it is.
  const bool is_ready = task->not_first_in_.load(std::memory_order_acquire) == 0;
  if (is_ready && !task->is_for_workers() && attempt(task)) return;
  call_workers();
}

// True when it has ended.
bool Executor::attempt(const std::shared_ptr<Task>& task) {
  if (task->is_claimed_.exchange(true, std::memory_order_acquire)) return false;
  // release: pairs with the acquire above, so that the next thread sees what this one did
  const bool has_ended = task->progress();
  if (has_ended) {
    finish(task);  // stays claimed: others may still have it in their lists
  } else {
    task->is_claimed_.store(false, std::memory_order_release);
  }
  return has_ended;
}

// The next task of the stream may be run.
void Executor::advance(HostStream& stream) {
  stream.tasks_.pop_front();
  stream.finished_.store(stream.finished_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  if (stream.tasks_.empty()) return;
  const auto& next = stream.tasks_.front();
  if (next->not_first_in_.fetch_sub(1, std::memory_order_acq_rel) == 1) make_ready(next);
}

void Executor::finish(const std::shared_ptr<Task>& task) {
  {
    const std::lock_guard lock(mutex_);
    ready_.erase(std::find(ready_.begin(), ready_.end(), task));
    if (task->stream_ != nullptr) advance(*task->stream_);
    for (const auto& stream : task->others_) advance(*stream);
    if (task->is_for_workers()) reserved_.fetch_sub(1, std::memory_order_relaxed);
    ready_count_.store(ready_.size(), std::memory_order_relaxed);
    version_.fetch_add(1, std::memory_order_release);
  }
  if (reserved_.load(std::memory_order_relaxed) > 0) call_workers();
  // seq_cst: either this sees the sleeper, or the sleeper sees the news
  news_.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) > 0) os::futex_wake_all(news_);
}

void Executor::refresh(Pass& pass) {
  if (version_.load(std::memory_order_acquire) == pass.version) return;
  const std::lock_guard lock(mutex_);
  pass.tasks = ready_;
  pass.version = version_.load(std::memory_order_relaxed);
}

// Whether one of them has ended.
bool Executor::run_once(Pass& pass, Who who) {
  refresh(pass);
  bool has_ended = false;
  for (const auto& task : pass.tasks) {
    if (who == Who::worker || !task->is_for_workers()) has_ended = attempt(task) || has_ended;
  }
  return has_ended;
}

bool Executor::has_stalled(Pass& pass) const {
  const Time now = os::now();
  std::uint64_t steps = pass.version;
  for (const auto& task : pass.tasks) steps += task->steps();
  if (std::exchange(pass.steps, steps) != steps) pass.moved = now;
  return Deadline::after(pass.moved, kYieldFor).has_passed(now);
}

// Nothing has moved for a while: perhaps it never will again, so tasks look for the reason before this thread sleeps.
void Executor::rest(Pass& pass, Deadline deadline) {
  for (const auto& task : pass.tasks) {
    if (task->is_claimed_.exchange(true, std::memory_order_acquire)) continue;
    task->look();
    task->is_claimed_.store(false, std::memory_order_release);
  }
  const Time now = os::now();
  const std::chrono::nanoseconds quiet(now.ns - pass.moved.ns);
  const Deadline nap = Deadline::after(now, std::clamp<std::chrono::nanoseconds>(quiet / 16, kNapMin, kNapMax));
  const Deadline until{std::min(nap.at, deadline.at)};
  const std::uint32_t seen = news_.load(std::memory_order_acquire);
  if (version_.load(std::memory_order_acquire) != pass.version) return;
  if (pass.tasks.size() == 1 && !pass.tasks[0]->is_claimed_.exchange(true, std::memory_order_acquire)) {
    const bool has_slept = pass.tasks[0]->sleep(until);
    pass.tasks[0]->is_claimed_.store(false, std::memory_order_release);
    if (has_slept) return;
  }
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  os::futex_wait(news_, seen, until);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

bool Executor::drive(const std::atomic<std::uint64_t>& counter, std::uint64_t wanted, Deadline deadline) {
  const auto is_reached = [&] { return counter.load(std::memory_order_acquire) >= wanted; };
  if (is_reached()) return true;
  drivers_.fetch_add(1, std::memory_order_relaxed);
  Pass pass;
  int polls = 1;
  bool is_in_time = true;
  for (int round = 0; !is_reached(); ++round) {
    if (run_once(pass, Who::caller)) continue;
    if (round == 0)
      for (const auto& task : pass.tasks) polls = std::max(polls, task->polls());
    if (round < polls || is_reached()) continue;
    os::yield_core();
    if (round % kYieldsPerLook != 0) continue;
    if (has_stalled(pass)) rest(pass, deadline);
    is_in_time = !deadline.has_passed(os::now());
    if (!is_in_time) break;
  }
  drivers_.fetch_sub(1, std::memory_order_relaxed);
  return is_in_time || is_reached();
}

// A worker that is on the watch finds new tasks by itself.
void Executor::call_workers() {
  if (is_worker_awake_.exchange(true, std::memory_order_acq_rel)) return;
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
  for (std::uint32_t seen = 0;;) {
    while (calls_.load(std::memory_order_acquire) == seen) os::futex_wait(calls_, seen, Deadline::never());
    auto hold_back = kHoldBackMin;
    for (Time busy = os::now(); !Deadline::after(busy, kLinger).has_passed(os::now());) {
      seen = calls_.load(std::memory_order_acquire);
      const std::size_t ready = ready_count_.load(std::memory_order_relaxed);
      if (ready > 0) busy = os::now();
      // What the threads of the program may run is left to them at first, and for as long as there are enough of them.
      const bool is_due = hold_back > kHoldBackMin && ready > drivers_.load(std::memory_order_relaxed);
      if (is_due || reserved_.load(std::memory_order_relaxed) > 0) help();
      os::futex_wait(calls_, seen, Deadline::after(os::now(), hold_back));
      hold_back = std::min(2 * hold_back, kHoldBackMax);
    }
    // The first keeps watch for all.
    if (index != 0) continue;
    is_worker_awake_.exchange(false, std::memory_order_acq_rel);
    if (ready_count_.load(std::memory_order_acquire) != 0) call_workers();
  }
}

// Until there is nothing to do or enough others do it.
void Executor::help() {
  drivers_.fetch_add(1, std::memory_order_relaxed);
  Pass pass;
  for (int round = 0;; ++round) {
    if (run_once(pass, Who::worker)) continue;
    const std::size_t ready = ready_count_.load(std::memory_order_relaxed);
    const bool is_needed = ready >= drivers_.load(std::memory_order_relaxed) || reserved_.load() > 0;
    if (ready == 0 || !is_needed) break;
    os::yield_core();
    if (round % kYieldsPerLook == 0 && has_stalled(pass)) rest(pass, Deadline::never());
  }
  drivers_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace tutti::device

// Who runs the tasks of the process's streams: threads that wait for some of them, and a few of its own for the rest.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/deadline.h"
#include "device/task.h"
#include "os/thread.h"

namespace tutti::device {

// There is no list of what can be run: that would be one more place that all threads write to. Whoever has time looks
// at the streams that are not idle, claims the first task of one and tries it.
class Executor {
 public:
  // Made at the first use; stays until the process ends.
  static Executor& of_process();

  // It runs when all that was added before to any of these streams has ended; the caller tries it once.
  void submit(std::shared_ptr<Task> task, std::span<const std::shared_ptr<HostStream>> streams);
  void submit(std::shared_ptr<Task> task, std::shared_ptr<HostStream> stream);
  // The two halves, for several of which all have their places before the first is tried. Nobody runs or ends a task in
  // between, so that pointers to them stay valid.
  void place(std::shared_ptr<Task> task, std::span<const std::shared_ptr<HostStream>> streams);
  void place(std::shared_ptr<Task> task, std::shared_ptr<HostStream> stream);
  void begin_all(std::span<Task*> placed);

  // Runs tasks until all that was added to the stream before has ended; false: the deadline has passed before.
  bool synchronize(HostStream& stream, Deadline deadline);
  // Runs tasks until the counter has reached that; false: the deadline has passed before.
  bool drive(const std::atomic<std::uint64_t>& counter, std::uint64_t wanted, Deadline deadline);

 private:
  class Pass;
  Executor();

  bool drive(Pass& pass, const std::atomic<std::uint64_t>& counter, std::uint64_t wanted, Deadline deadline);
  void add(const std::shared_ptr<HostStream>& stream, std::shared_ptr<Task> task);
  static bool may_begin(const Task& task);
  bool begin(Task& task);
  bool run_claimed(Task& task, int looks);
  bool attempt(Task& task);
  std::shared_ptr<Task> advance(HostStream& stream);
  void finish(Task& task);
  void watch(HostStream& stream);
  template <class Predicate>
  void rest(Pass& pass, Deadline deadline, const Predicate& is_reached);
  void ring_sleepers();
  void call_workers();
  void work(std::size_t index);
  void help(Pass& pass);

  std::mutex mutex_;                                // because any thread may use a new stream; held for a few lines
  std::vector<std::weak_ptr<HostStream>> streams_;  // that something was ever added to
  std::atomic<std::uint64_t> version_ = 1;          // of streams_
  std::atomic<std::size_t> reserved_ = 0;           // tasks that only workers may run
  std::atomic<std::uint32_t> news_ = 0;             // futex: something has been added or has ended
  std::atomic<std::uint32_t> sleepers_ = 0;         // on news_
  std::atomic<std::uint32_t> drivers_ = 0;          // threads that run tasks now
  std::atomic<std::uint32_t> calls_ = 0;            // futex: workers sleep on it for as long as there is nothing to do
  std::atomic<bool> is_worker_awake_ = false;       // one of them is on the watch
  std::size_t cores_;
  std::vector<os::Thread> workers_;
  std::once_flag start_workers_;
};

}  // namespace tutti::device

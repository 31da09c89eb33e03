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

// A mutex because streams are used from any thread, and a task may stand in several; it is held for a few lines.
class Executor {
 public:
  // Made at the first use; stays until the process ends.
  static Executor& of_process();

  // It runs when all that was added before to any of these streams has ended.
  void submit(const std::shared_ptr<Task>& task, std::span<const std::shared_ptr<HostStream>> streams) {
    place(task, streams);
    begin(task);
  }
  // Several: all have their places before the first is tried.
  struct Placed {
    std::shared_ptr<Task> task;
    std::vector<std::shared_ptr<HostStream>> streams;
  };
  void submit_all(std::span<const Placed> placed) {
    for (const auto& [task, streams] : placed) place(task, streams);
    for (const auto& [task, streams] : placed) begin(task);
  }
  // The two halves: its place in the order, and a first try by the caller.
  void place(const std::shared_ptr<Task>& task, std::span<const std::shared_ptr<HostStream>> streams);
  void begin(const std::shared_ptr<Task>& task);

  // Runs tasks until the counter has reached that; false: the deadline has passed before.
  bool drive(const std::atomic<std::uint64_t>& counter, std::uint64_t wanted, Deadline deadline);

 private:
  struct Pass;
  Executor();

  bool attempt(const std::shared_ptr<Task>& task);
  void make_ready(const std::shared_ptr<Task>& task);
  void finish(const std::shared_ptr<Task>& task);
  void advance(HostStream& stream);
  enum class Who : bool { caller, worker };
  bool run_once(Pass& pass, Who who);
  void refresh(Pass& pass);
  bool has_stalled(Pass& pass) const;
  void rest(Pass& pass, Deadline deadline);
  void call_workers();
  void work(std::size_t index);
  void help();

  std::mutex mutex_;
  std::vector<std::shared_ptr<Task>> ready_;  // whose turn has come
  std::atomic<std::uint64_t> version_ = 0;    // of ready_
  std::atomic<std::size_t> ready_count_ = 0;  // its size
  std::atomic<std::size_t> reserved_ = 0;     // those of them that only workers may run
  std::atomic<std::uint32_t> news_ = 0;       // futex: something has been added or has ended
  std::atomic<std::uint32_t> sleepers_ = 0;   // on news_
  std::atomic<std::uint32_t> drivers_ = 0;    // threads that run tasks now
  std::atomic<std::uint32_t> calls_ = 0;      // futex: workers sleep on it for as long as there is nothing to do
  std::atomic<bool> is_worker_awake_ = false;
  std::size_t cores_;
  std::vector<os::Thread> workers_;
  std::once_flag start_workers_;
};

}  // namespace tutti::device

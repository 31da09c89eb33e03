// One thread that waits for many descriptors, timers and other threads at once, and calls functions when they are due.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/deadline.h"
#include "os/file_descriptor.h"
#include "tutti/status.h"

namespace tutti::os {

// Events of a descriptor, as bits. Failures and the end of the other side are announced always, as both.
inline constexpr std::uint32_t kReadable = 1;
inline constexpr std::uint32_t kWritable = 4;

// All but post() and is_in_loop() belongs to the thread that calls run_until(). A function that is called may watch,
// unwatch, set and cancel as it likes, itself included: what is removed is not called any more.
class EventLoop {
 public:
  using Ready = std::function<void()>;
  struct Watch {
    std::uint64_t id = 0;
    bool is_set() const { return id != 0; }
  };
  struct Timer {
    Time at;
    std::uint64_t id = 0;
    auto operator<=>(const Timer&) const = default;
    bool is_set() const { return id != 0; }
  };

  static Result<std::unique_ptr<EventLoop>> create();

  // Level-triggered: called again and again while the descriptor is ready.
  Result<Watch> watch(int fd, std::uint32_t events, Ready ready);
  void change(Watch watch, std::uint32_t events);
  void unwatch(Watch& watch);  // before the descriptor is closed; nothing when it is not set

  Timer call_at(Time time, std::function<void()> function);
  void cancel(Timer& timer);                        // nothing when it is not set
  void call_later(std::function<void()> function);  // soon, from the loop rather than from here

  void post(std::function<void()> function);  // from any thread; in the order of the calls of one thread

  bool is_in_loop() const;  // whether the caller is called by the loop

  // Calls what is due until `is_done` is true after a call, or the deadline has passed. True: it is done.
  bool run_until(const std::function<bool()>& is_done, Deadline deadline);

 private:
  struct Watched {
    int fd;
    std::shared_ptr<Ready> ready;  // the loop's while it calls, which may unwatch it
  };
  EventLoop(FileDescriptor epoll, FileDescriptor wakeup) : epoll_(std::move(epoll)), wakeup_(std::move(wakeup)) {}
  void wait(Deadline deadline);
  void call_posted();
  void call_timers();

  FileDescriptor epoll_;
  FileDescriptor wakeup_;
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::uint64_t, Watched> watched_;
  std::map<Timer, std::function<void()>> timers_;
  std::vector<std::function<void()>> later_;
  std::atomic<std::thread::id> runner_{};
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  // guarded by mutex_
};

}  // namespace tutti::os

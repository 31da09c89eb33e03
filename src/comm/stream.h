// The other side of tutti::Stream and tutti::Work: a queue of closures with a thread, and a result that can be waited
// for.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "os/thread.h"
#include "tutti/communicator.h"

namespace tutti {

struct Work::State {
  void finish(Status result);

  std::atomic<std::uint32_t> is_done = 0;  // futex; release: pairs with the acquire of whoever reads the status
  Status status;
};

// A mutex because programs submit from any thread; it is held for a push or a pop.
struct Stream::State {
  Status start();
  void add(std::function<void()> call);
  void run();
  ~State();

  std::mutex mutex;
  std::condition_variable has_news;
  std::deque<std::function<void()>> calls;
  std::uint64_t added = 0;
  std::uint64_t finished = 0;
  bool is_closing = false;
  os::Thread thread;
};

}  // namespace tutti

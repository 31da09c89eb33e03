// What this process's main thread is doing, for others who ask. Found out on a thread of its own, since it takes a
// while.
#pragma once

#include <mutex>
#include <string>

#include "base/deadline.h"
#include "os/thread.h"

namespace tutti::comm::watch {

class Portrait {
 public:
  // Returns at once. Empty: it is being found out, or could not be; ask again in a moment. Many who ask at about the
  // same time get the same answer, so that the thread is halted once.
  std::string look();

 private:
  // A mutex because the answer is written by the thread that looks.
  std::mutex mutex_;
  bool is_looking_ = false;
  std::string text_;
  Time made_;
  os::Thread thread_;  // last: it is joined before the rest goes
};

}  // namespace tutti::comm::watch

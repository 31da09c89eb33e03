// A thread of the library's own: it has a name, leaves signals to the program, and is joined when it is destroyed.
#pragma once

#include <functional>
#include <string_view>
#include <thread>

#include "tutti/status.h"

namespace tutti::os {

class Thread {
 public:
  // Names longer than the kernel's 15 characters are cut. Signals that say something to the process are blocked in the
  // thread, so that the program's own threads get them; those that a thread's own fault raises are not.
  static Result<Thread> start(std::string_view name, std::function<void()> work);

  Thread() = default;
  Thread(Thread&&) noexcept = default;
  Thread& operator=(Thread&& other) noexcept;
  ~Thread() { join(); }

  bool is_joinable() const { return thread_.joinable(); }
  void join();  // nothing when it was joined before

 private:
  explicit Thread(std::thread thread) : thread_(std::move(thread)) {}
  std::thread thread_;
};

}  // namespace tutti::os

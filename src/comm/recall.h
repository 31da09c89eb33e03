// Lets whoever does not want a communicator any more end its start, from any thread.
#pragma once

#include <atomic>
#include <chrono>

#include "tutti/status.h"

namespace tutti::comm {

class Recall {
 public:
  // How often a start that waits looks whether it is still wanted.
  static constexpr std::chrono::milliseconds kLook{20};

  void recall() { is_recalled_.store(true, std::memory_order_release); }
  bool is_recalled() const { return is_recalled_.load(std::memory_order_acquire); }
  Status status() const {
    if (!is_recalled()) return {};
    return {Code::aborted, "the communicator was aborted before all ranks had come"};
  }

 private:
  std::atomic<bool> is_recalled_ = false;
};

}  // namespace tutti::comm

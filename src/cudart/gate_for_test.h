// Work on a stream that goes on when the test says so.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <memory>

#include "device/host/devices.h"
#include "device/host/executor.h"
#include "device/task.h"
#include "os/clock.h"

namespace tutti::cudart {

class Gate final : public device::Task {
 public:
  bool progress() override { return is_open_.load(); }
  void open() { is_open_ = true; }

  static std::shared_ptr<Gate> on(cudaStream_t stream) {
    auto& devices = device::Devices::of_process();
    auto gate = std::make_shared<Gate>();
    device::Executor::of_process().submit(gate, devices.order_of(devices.find_stream(stream)));
    return gate;
  }

 private:
  std::atomic<bool> is_open_ = false;
};

// Looks again until it is so; false: it took too long.
template <class Condition>
bool comes_true(Condition condition) {
  for (const Deadline limit = Deadline::after(os::now(), std::chrono::seconds(20)); !condition();)
    if (limit.has_passed(os::now())) return false;
  return true;
}

}  // namespace tutti::cudart

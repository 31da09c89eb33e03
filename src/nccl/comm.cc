#include "nccl/comm.h"

#include <fmt/format.h>

#include <shared_mutex>
#include <unordered_map>

#include "device/host/executor.h"
#include "nccl/result.h"
#include "nccl/windows.h"
#include "os/clock.h"

namespace tutti::nccl {
namespace {

// A mutex because programs make and use communicators from any thread; calls share it.
struct Handles {
  std::shared_mutex mutex;
  std::unordered_map<ncclComm_t, CommRef> comms;
};

Handles& handles() {
  // Never destroyed: a program's own destructors may still use communicators.
  static Handles& all = *new Handles;
  return all;
}

}  // namespace

ncclComm_t publish(CommRef comm) {
  const ncclComm_t handle = comm.get();
  const std::lock_guard lock(handles().mutex);
  handles().comms.emplace(handle, std::move(comm));
  return handle;
}

Result<CommRef> find(ncclComm_t handle) {
  if (handle == nullptr) return invalid_argument("the communicator is NULL");
  const std::shared_lock lock(handles().mutex);
  const auto found = handles().comms.find(handle);
  if (found != handles().comms.end()) [[likely]]
    return found->second;
  return invalid_argument(
      fmt::format("{} is no communicator, or one that was destroyed", static_cast<const void*>(handle)));
}

CommRef withdraw(ncclComm_t handle) {
  const std::lock_guard lock(handles().mutex);
  const auto node = handles().comms.extract(handle);
  return node ? node.mapped() : nullptr;
}

}  // namespace tutti::nccl

using tutti::Code;
using tutti::Status;

void ncclComm::fail(const Status& why) {
  const std::lock_guard lock(mutex);
  if (failure) failure = why;
}

Status ncclComm::first_failure() {
  const std::lock_guard lock(mutex);
  return failure;
}

Status ncclComm::readiness() const {
  switch (state.load(std::memory_order_acquire)) {
    case State::ready:
      if (side->has_ended()) [[unlikely]]
        return side->why_ended();
      return {};
    case State::starting:
      return tutti::invalid_argument(
          "the communicator is not ready yet; ask ncclCommGetAsyncError until it says ncclSuccess");
    case State::failed: return const_cast<ncclComm*>(this)->first_failure();
    case State::finalized: return {Code::invalid_usage, "the communicator was finalized and takes no more calls"};
    case State::revoked: break;
  }
  return {Code::invalid_usage, "the communicator was revoked; shrink it, or destroy it"};
}

bool ncclComm::settle(std::chrono::nanoseconds timeout) {
  const tutti::Deadline deadline = tutti::Deadline::after(tutti::os::now(), timeout);
  return tutti::device::Executor::of_process().drive(completed, submitted.load(std::memory_order_acquire), deadline);
}

#include "nccl/comm.h"

#include <fmt/format.h>

#include <shared_mutex>
#include <unordered_map>

#include "base/recent.h"
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
  std::atomic<std::uint64_t> version = 0;  // grows when one goes
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
  // Most calls of a thread are about the same few. They are not kept: whoever destroys one wants it to go.
  thread_local Recent<std::weak_ptr<ncclComm>> recent_comms;
  Handles& all = handles();
  // acquire: whoever has heard of a destruction sees it
  const std::uint64_t version = all.version.load(std::memory_order_acquire);
  if (const auto* recent = recent_comms.find(handle, version)) [[likely]]
    if (auto comm = recent->lock()) return comm;
  const std::shared_lock lock(all.mutex);
  const auto found = all.comms.find(handle);
  if (found != all.comms.end()) {
    recent_comms.keep(handle, version, found->second);
    return found->second;
  }
  return invalid_argument(
      fmt::format("{} is no communicator, or one that was destroyed", static_cast<const void*>(handle)));
}

CommRef withdraw(ncclComm_t handle) {
  const std::lock_guard lock(handles().mutex);
  const auto node = handles().comms.extract(handle);
  handles().version.fetch_add(1, std::memory_order_release);
  return node ? node.mapped() : nullptr;
}

}  // namespace tutti::nccl

using tutti::Code;
using tutti::Status;

void ncclComm::fail(const Status& why) {
  const std::lock_guard lock(mutex);
  if (failure) failure = why;
}

void ncclComm::ended(const Status& status, tutti::device::HostStream& stream) {
  if (!status) [[unlikely]] {
    fail(status);
    // A program that looks only at its streams learns it as well; one that has aborted knows.
    if (status.code() != Code::aborted) stream.fail(status);
  }
  completed.fetch_add(1, std::memory_order_release);
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
      if (makings.load(std::memory_order_acquire) > 0) [[unlikely]]
        return tutti::invalid_argument(
            "another communicator is being made from this one; ask ncclCommGetAsyncError until it says ncclSuccess");
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

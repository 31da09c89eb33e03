// The one-sided calls of the NCCL interface: windows, stores to those of others, and signals.
#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <vector>

#include "device/host/devices.h"
#include "device/host/executor.h"
#include "device/host/recording.h"
#include "nccl/calls.h"
#include "nccl/memory.h"
#include "nccl/result.h"
#include "nccl/windows.h"
#include "os/clock.h"

namespace tutti::nccl {
namespace {

using Counter = std::atomic<std::uint64_t>;

// Ends when as many signals have come as are waited for, or the communicator has ended.
class SignalTask final : public device::Task {
 public:
  struct Awaited {
    const Counter* counter;
    std::uint64_t count;
    Rank from;
  };

  SignalTask(CommRef comm, std::vector<Awaited> awaited, std::chrono::nanoseconds timeout)
      : comm_(std::move(comm)), awaited_(std::move(awaited)), timeout_(timeout) {}

  bool progress() override {
    if (deadline_.at == Deadline::never().at) deadline_ = Deadline::after(os::now(), timeout_);
    // acquire: pairs with the release of the signal, so that what was stored before it is seen
    while (next_ < awaited_.size() && awaited_[next_].counter->load(std::memory_order_acquire) >= awaited_[next_].count)
      ++next_;
    if (next_ == awaited_.size()) return end({});
    if (comm_->side->has_ended()) return end(comm_->side->why_ended());
    return is_late_ && end({Code::timed_out, fmt::format("rank {} has waited too long for a signal of rank {}",
                                                         comm_->rank, awaited_[next_].from)});
  }
  void look() override { is_late_ = deadline_.has_passed(os::now()); }

 private:
  bool end(const Status& status) {
    if (!status) comm_->fail(status);
    comm_->completed.fetch_add(1, std::memory_order_release);
    return true;
  }

  CommRef comm_;
  std::vector<Awaited> awaited_;
  std::chrono::nanoseconds timeout_;
  Deadline deadline_ = Deadline::never();
  std::size_t next_ = 0;
  bool is_late_ = false;
};

std::chrono::nanoseconds timeout_of(const ncclComm& comm) {
  const auto own = comm.call_timeout.load(std::memory_order_relaxed);
  return own.count() > 0 ? own : comm.side->options().timeout;
}

Status put_on(const CommRef& comm, cudaStream_t handle, std::shared_ptr<device::Task> task) {
  auto& devices = device::Devices::of_process();
  const auto stream = devices.find_stream(handle, comm->device);
  if (stream == nullptr) return invalid_argument("the stream is none, or one that was destroyed");
  if (stream->recording() != nullptr)
    return {Code::unsupported, "one-sided calls cannot be captured; make them outside of the capture"};
  comm->submitted.fetch_add(1, std::memory_order_relaxed);
  device::Executor::of_process().submit(task, devices.order_of(stream));
  return {};
}

Result<CommRef> ready(ncclComm_t handle) {
  TUTTI_ASSIGN(const CommRef comm, find(handle));
  TUTTI_TRY(comm->readiness());
  const std::lock_guard lock(comm->mutex);
  if (comm->one_sided == nullptr) comm->one_sided = std::make_shared<OneSided>(*comm->side);
  return comm;
}

Status validate_peer(const ncclComm& comm, int peer) {
  if (peer >= 0 && peer < comm.size) return {};
  return invalid_argument(fmt::format("peer {} is not one of {} ranks", peer, comm.size));
}

Result<std::shared_ptr<Window>> window_of(ncclComm& comm, ncclWindow_t handle) {
  const std::lock_guard lock(comm.mutex);
  const auto found = comm.windows.find(handle);
  if (found != comm.windows.end()) return found->second;
  return invalid_argument("the window is none of this communicator, or one that was deregistered");
}

struct Target {
  int peer;
  SignalName signal;
  unsigned flags;
};

// Raises the signal after what was stored. `copy` may be empty.
Status raise(const CommRef& comm, const Target& target, std::function<void()> copy, cudaStream_t stream) {
  TUTTI_TRY(validate_signal(target.signal));
  if (target.flags != 0) return invalid_argument(fmt::format("flags are {:#x}; none exist yet", target.flags));
  const Deadline deadline = Deadline::after(os::now(), timeout_of(*comm));
  TUTTI_ASSIGN(Counter* const counter, comm->one_sided->signal_of(target.peer, target.signal, deadline));
  return put_on(comm, stream, std::make_shared<device::FunctionTask>([comm, counter, copy = std::move(copy)] {
                  if (copy) copy();
                  counter->fetch_add(1, std::memory_order_release);
                  comm->completed.fetch_add(1, std::memory_order_release);
                }));
}

}  // namespace
}  // namespace tutti::nccl

using namespace tutti::nccl;
using tutti::Status;

TUTTI_NCCL_DEFINE(CommWindowRegister, (ncclComm_t handle, void* buff, size_t size, ncclWindow_t* win, int winFlags)) {
  return answer("ncclCommWindowRegister", [&]() -> Status {
    if (win == nullptr) return tutti::invalid_argument("the place for the window is NULL");
    *win = nullptr;
    if ((winFlags & ~(NCCL_WIN_COLL_SYMMETRIC | NCCL_WIN_STRICT_ORDERING)) != 0)
      return tutti::invalid_argument(fmt::format("winFlags is {:#x}, which has bits without a meaning", winFlags));
    TUTTI_ASSIGN(const CommRef comm, ready(handle));
    TUTTI_TRY(validate_range(buff, size));
    TUTTI_ASSIGN(auto window, comm->one_sided->add(buff, size));
    *win = reinterpret_cast<ncclWindow_t>(window.get());
    const std::lock_guard lock(comm->mutex);
    comm->windows.emplace(window.get(), std::move(window));
    return {};
  });
}

TUTTI_NCCL_DEFINE(CommWindowDeregister, (ncclComm_t handle, ncclWindow_t win)) {
  return answer("ncclCommWindowDeregister", [&]() -> Status {
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    TUTTI_ASSIGN(const auto window, window_of(*comm, win));
    const std::lock_guard lock(comm->mutex);
    comm->windows.erase(window.get());
    return {};
  });
}

TUTTI_NCCL_DEFINE(WinGetUserPtr, (ncclComm_t handle, ncclWindow_t win, void** outUserPtr)) {
  return answer("ncclWinGetUserPtr", [&]() -> Status {
    if (outUserPtr == nullptr) return tutti::invalid_argument("the place for the address is NULL");
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    TUTTI_ASSIGN(const auto window, window_of(*comm, win));
    *outUserPtr = window->buffer;
    return {};
  });
}

TUTTI_NCCL_DEFINE(PutSignal, (const void* localbuff, size_t count, ncclDataType_t datatype, int peer,
                              ncclWindow_t peerWin, size_t peerWinOffset, int sigIdx, int ctx, unsigned int flags,
                              ncclComm_t handle, cudaStream_t stream)) {
  return answer("ncclPutSignal", [&]() -> Status {
    TUTTI_ASSIGN(const CommRef comm, ready(handle));
    TUTTI_TRY(validate_peer(*comm, peer));
    TUTTI_ASSIGN(const tutti::DataType type, data_type_of(datatype));
    const std::size_t each = tutti::size_of(type);
    if (count > std::numeric_limits<std::size_t>::max() / each)
      return tutti::invalid_argument(fmt::format("{} elements are more than memory has", count));
    if (localbuff == nullptr && count > 0) return tutti::invalid_argument("the buffer is NULL");
    TUTTI_ASSIGN(const auto window, window_of(*comm, peerWin));
    const tutti::Deadline deadline = tutti::Deadline::after(tutti::os::now(), timeout_of(*comm));
    TUTTI_ASSIGN(std::byte* const target, comm->one_sided->find(peer, *window, peerWinOffset, count * each, deadline));
    return raise(
        comm, {.peer = peer, .signal = {.index = sigIdx, .context = ctx}, .flags = flags},
        [=] { std::memmove(target, localbuff, count * each); }, stream);
  });
}

TUTTI_NCCL_DEFINE(Signal, (int peer, int sigIdx, int ctx, unsigned int flags, ncclComm_t handle, cudaStream_t stream)) {
  return answer("ncclSignal", [&]() -> Status {
    TUTTI_ASSIGN(const CommRef comm, ready(handle));
    TUTTI_TRY(validate_peer(*comm, peer));
    return raise(comm, {.peer = peer, .signal = {.index = sigIdx, .context = ctx}, .flags = flags}, {}, stream);
  });
}

TUTTI_NCCL_DEFINE(WaitSignal, (int nDesc, ncclWaitSignalDesc_t* signalDescs, ncclComm_t handle, cudaStream_t stream)) {
  return answer("ncclWaitSignal", [&]() -> Status {
    if (nDesc < 0 || (nDesc > 0 && signalDescs == nullptr))
      return tutti::invalid_argument(
          fmt::format("{} descriptions, in a list that is NULL or shorter than none", nDesc));
    TUTTI_ASSIGN(const CommRef comm, ready(handle));
    std::vector<SignalTask::Awaited> awaited;
    for (const ncclWaitSignalDesc_t& one : std::span(signalDescs, static_cast<std::size_t>(nDesc))) {
      const SignalName name{.index = one.sigIdx, .context = one.ctx};
      TUTTI_TRY(validate_peer(*comm, one.peer));
      TUTTI_TRY(validate_signal(name));
      if (one.opCnt < 0) return tutti::invalid_argument(fmt::format("{} signals cannot be waited for", one.opCnt));
    }
    for (const ncclWaitSignalDesc_t& one : std::span(signalDescs, static_cast<std::size_t>(nDesc))) {
      const SignalName name{.index = one.sigIdx, .context = one.ctx};
      TUTTI_ASSIGN(const Counter* const counter, comm->one_sided->own_signal(one.peer, name));
      const std::uint64_t count = comm->one_sided->expect(one.peer, name, static_cast<std::uint64_t>(one.opCnt));
      awaited.push_back({.counter = counter, .count = count, .from = one.peer});
    }
    return put_on(comm, stream, std::make_shared<SignalTask>(comm, std::move(awaited), timeout_of(*comm)));
  });
}

// What becomes of communicators of the NCCL interface: how they are, and how they end.
#include <fmt/format.h>

#include <chrono>
#include <string>

#include "nccl/comm.h"
#include "nccl/group.h"
#include "nccl/result.h"
#include "os/backoff.h"
#include "os/clock.h"

namespace tutti::nccl {
namespace {

using State = ncclComm::State;
using namespace std::chrono_literals;

// How long what was aborted may take to notice.
constexpr std::chrono::nanoseconds kAbortWithin = 5s;
// How long a communicator that is destroyed waits for its last calls: each of them has a shorter limit of its own.
constexpr std::chrono::nanoseconds kSettleWithin = std::chrono::hours(24);

// Only ready communicators have calls.
Status settle(ncclComm& comm) {
  if (comm.state.load(std::memory_order_acquire) == State::starting)
    return {Code::invalid_usage,
            "the communicator is not ready yet; ask ncclCommGetAsyncError until it is, or abort it"};
  comm.settle(kSettleWithin);
  return comm.first_failure();
}

// A start ends soon. One that is a call of another communicator waits in that for the other ranks: it is nobody's from
// now on, and ends with that call.
void end_start(ncclComm& comm) {
  comm.recall.recall();
  if (comm.has_parent) return;
  const Deadline deadline = Deadline::after(os::now(), kAbortWithin);
  os::Backoff backoff;
  while (comm.state.load(std::memory_order_acquire) == State::starting && !deadline.has_passed(os::now()))
    backoff.pause(deadline);
  reap_makings();
}

// Ends what runs, here and on the other ranks.
void end(ncclComm& comm, std::string_view why) {
  if (comm.state.load(std::memory_order_acquire) == State::starting) end_start(comm);
  if (comm.state.load(std::memory_order_acquire) == State::starting) return;
  if (comm.side == nullptr) return;
  comm.side->end(Code::aborted, fmt::format("rank {} {}", comm.rank, why));
  comm.side->record_end();
  comm.settle(kAbortWithin);
}

ncclResult_t async_result(ncclComm& comm) {
  const State state = comm.state.load(std::memory_order_acquire);
  if (state == State::starting || comm.makings.load(std::memory_order_acquire) > 0) return ncclInProgress;
  if (const Status failure = comm.first_failure(); !failure) return result_of(failure.code());
  if (state == State::revoked || comm.side == nullptr || !comm.side->has_ended()) return ncclSuccess;
  // Another rank has ended it while no call of this one was waiting.
  const Status why = comm.side->why_ended();
  comm.fail(why);
  return why.code() == Code::aborted ? ncclRemoteError : result_of(why.code());
}

}  // namespace
}  // namespace tutti::nccl

using namespace tutti::nccl;
using tutti::Status;

TUTTI_NCCL_DEFINE(CommGetAsyncError, (ncclComm_t handle, ncclResult_t* asyncError)) {
  return answer("ncclCommGetAsyncError", [&]() -> Status {
    if (asyncError == nullptr) return tutti::invalid_argument("the place for the result is NULL");
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    *asyncError = async_result(*comm);
    return {};
  });
}

extern "C" __attribute__((visibility("default"))) const char* pncclGetLastError(ncclComm_t handle) {
  thread_local std::string kept;
  if (handle == nullptr) return last_sentence();
  const auto comm = find(handle);
  const Status failure = comm ? (*comm)->first_failure() : Status();
  if (failure) return last_sentence();
  kept = std::string(failure.text());
  return kept.c_str();
}
extern "C" __attribute__((visibility("default"))) const char* ncclGetLastError(ncclComm_t handle)
    __attribute__((weak, alias("pncclGetLastError")));

namespace {

template <class Value>
ncclResult_t tell(std::string_view call, ncclComm_t handle, int* place, Value&& value) {
  return answer(call, [&]() -> Status {
    if (place == nullptr) return tutti::invalid_argument("the place for the answer is NULL");
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    *place = value(*comm);
    return {};
  });
}

}  // namespace

TUTTI_NCCL_DEFINE(CommCount, (const ncclComm_t comm, int* count)) {
  return tell("ncclCommCount", comm, count, [](const ncclComm& one) { return one.size; });
}

TUTTI_NCCL_DEFINE(CommCuDevice, (const ncclComm_t comm, int* device)) {
  return tell("ncclCommCuDevice", comm, device, [](const ncclComm& one) { return one.device; });
}

TUTTI_NCCL_DEFINE(CommUserRank, (const ncclComm_t comm, int* rank)) {
  return tell("ncclCommUserRank", comm, rank, [](const ncclComm& one) { return one.rank; });
}

TUTTI_NCCL_DEFINE(CommFinalize, (ncclComm_t handle)) {
  return answer("ncclCommFinalize", [&]() -> Status {
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    if (comm->state.load(std::memory_order_acquire) == State::finalized)
      return {tutti::Code::invalid_usage, "the communicator was finalized before"};
    TUTTI_TRY(settle(*comm));
    State ready = State::ready;
    comm->state.compare_exchange_strong(ready, State::finalized, std::memory_order_acq_rel);
    return {};
  });
}

TUTTI_NCCL_DEFINE(CommDestroy, (ncclComm_t handle)) {
  return answer("ncclCommDestroy", [&]() -> Status {
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    // One that has failed is destroyed all the same; its failure was told when it happened.
    if (const Status settled = settle(*comm); settled.code() == tutti::Code::invalid_usage) {
      if (comm->state.load(std::memory_order_acquire) == State::starting) return settled;
    }
    withdraw(handle);
    return {};
  });
}

TUTTI_NCCL_DEFINE(CommAbort, (ncclComm_t handle)) {
  return answer("ncclCommAbort", [&]() -> Status {
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    end(*comm, "has aborted the communicator");
    withdraw(handle);
    return {};
  });
}

TUTTI_NCCL_DEFINE(CommRevoke, (ncclComm_t handle, int revokeFlags)) {
  return answer("ncclCommRevoke", [&]() -> Status {
    if (revokeFlags != NCCL_REVOKE_DEFAULT)
      return tutti::invalid_argument(fmt::format("revokeFlags is {:#x}; only NCCL_REVOKE_DEFAULT exists", revokeFlags));
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    if (comm->state.load(std::memory_order_acquire) == State::starting)
      return {tutti::Code::invalid_usage,
              "the communicator is not ready yet; ask ncclCommGetAsyncError until it is, or abort it"};
    end(*comm, "has revoked the communicator");
    comm->state.store(State::revoked, std::memory_order_release);
    return {};
  });
}

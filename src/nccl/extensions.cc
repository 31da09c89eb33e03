#include "tutti/nccl_extensions.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "nccl/calls.h"
#include "nccl/group.h"
#include "nccl/operations.h"
#include "nccl/result.h"
#include "nccl/start.h"

namespace tutti::nccl {
namespace {

using plan::Collective;

constexpr double kSecondsMax = 1e6;

Result<std::chrono::nanoseconds> time_of(double seconds) {
  if (!(seconds >= 0) || seconds > kSecondsMax)
    return invalid_argument(fmt::format("{} seconds is no time; it takes 0 to {}", seconds, kSecondsMax));
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

// The counts are the caller's only until the call returns.
Status with_counts(ncclComm_t handle, cudaStream_t stream, Call call, const Asked& asked, const std::size_t* counts) {
  TUTTI_ASSIGN(const CommRef comm, find(handle));
  if (counts == nullptr) return invalid_argument("the list of counts is NULL");
  const auto ranks = static_cast<std::size_t>(comm->size);
  const std::size_t length = call.collective == Collective::all_to_all ? ranks * ranks : ranks;
  const auto kept = std::make_shared<const std::vector<std::uint64_t>>(counts, counts + length);
  call.counts = *kept;
  return collective(handle, stream, call, asked, kept);
}

}  // namespace
}  // namespace tutti::nccl

using namespace tutti::nccl;
using tutti::Status;
using tutti::plan::Collective;

#define TUTTI_NCCL_EXTENSION extern "C" __attribute__((visibility("default"))) ncclResult_t

TUTTI_NCCL_EXTENSION tuttiNcclAllGatherV(const void* sendbuff, void* recvbuff, const size_t* counts,
                                         ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  return guarded("tuttiNcclAllGatherV", [&] {
    return with_counts(comm, stream, {.collective = Collective::all_gather, .in = sendbuff, .out = recvbuff},
                       {.type = datatype}, counts);
  });
}

TUTTI_NCCL_EXTENSION tuttiNcclReduceScatterV(const void* sendbuff, void* recvbuff, const size_t* counts,
                                             ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                                             cudaStream_t stream) {
  return guarded("tuttiNcclReduceScatterV", [&] {
    return with_counts(comm, stream, {.collective = Collective::reduce_scatter, .in = sendbuff, .out = recvbuff},
                       {datatype, op}, counts);
  });
}

TUTTI_NCCL_EXTENSION tuttiNcclAlltoAllV(const void* sendbuff, void* recvbuff, const size_t* counts,
                                        ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  return guarded("tuttiNcclAlltoAllV", [&] {
    return with_counts(comm, stream, {.collective = Collective::all_to_all, .in = sendbuff, .out = recvbuff},
                       {.type = datatype}, counts);
  });
}

TUTTI_NCCL_EXTENSION tuttiNcclBarrier(ncclComm_t handle, cudaStream_t stream) {
  return guarded("tuttiNcclBarrier", [&]() -> Status {
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    TUTTI_TRY(comm->readiness());
    return collective(comm, stream, {.collective = Collective::barrier});
  });
}

TUTTI_NCCL_EXTENSION tuttiNcclSetCallTimeout(ncclComm_t handle, double seconds) {
  return answer("tuttiNcclSetCallTimeout", [&]() -> Status {
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    TUTTI_ASSIGN(const std::chrono::nanoseconds time, time_of(seconds));
    comm->call_timeout.store(time, std::memory_order_relaxed);
    return {};
  });
}

TUTTI_NCCL_EXTENSION tuttiNcclSetStartTimeout(double seconds) {
  return answer("tuttiNcclSetStartTimeout", [&]() -> Status {
    TUTTI_ASSIGN(const std::chrono::nanoseconds time, time_of(seconds));
    set_start_timeout(time);
    return {};
  });
}

TUTTI_NCCL_EXTENSION tuttiNcclSetMemoryLimit(size_t bytes) {
  set_memory_limit(bytes);
  return ncclSuccess;
}

TUTTI_NCCL_EXTENSION tuttiNcclRedOpCreate(ncclRedOp_t* op, const char* name, size_t elementBytes,
                                          tuttiNcclCombine combine, void* context, ncclComm_t handle) {
  return answer("tuttiNcclRedOpCreate", [&]() -> Status {
    if (op == nullptr || name == nullptr || combine == nullptr || elementBytes == 0)
      return tutti::invalid_argument("op, name or function is NULL, or elements have no bytes");
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    auto custom = std::make_shared<MadeOperation>();
    custom->name = name;
    custom->custom = {.name = custom->name, .element_bytes = elementBytes, .combine = combine, .context = context};
    return add_operation(*comm, {.type = ncclUint8, .custom = std::move(custom)}, *op);
  });
}

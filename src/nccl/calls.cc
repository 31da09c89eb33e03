#include "nccl/calls.h"

#include <fmt/format.h>

#include "device/host/devices.h"
#include "nccl/group.h"
#include "nccl/operations.h"
#include "nccl/result.h"

namespace tutti::nccl {

using plan::Collective;

Result<DataType> data_type_of(ncclDataType_t type) {
  // Numbered alike.
  static_assert(static_cast<int>(DataType::float8e5m2) == ncclFloat8e5m2 &&
                static_cast<int>(DataType::bfloat16) == ncclBfloat16 && static_cast<int>(DataType::int8) == ncclInt8);
  if (type >= 0 && type < ncclNumTypes) return static_cast<DataType>(type);
  return invalid_argument(fmt::format("{} is no data type; ncclInt8 to ncclFloat8e5m2 are", static_cast<int>(type)));
}

Status collective(const CommRef& comm, cudaStream_t handle, const Call& call) {
  auto stream = device::Devices::of_process().find_stream(handle, comm->device);
  if (stream == nullptr)
    return invalid_argument(
        fmt::format("{} is no stream, or one that was destroyed", static_cast<const void*>(handle)));
  if (stream->device() != comm->device)
    return {Code::invalid_usage, fmt::format("the stream is one of device {}, and rank {} of the communicator uses "
                                             "device {}; use a stream of that device",
                                             stream->device(), comm->rank, comm->device)};
  TUTTI_TRY(comm->side->validate(call));
  return enqueue({.comm = comm, .stream = std::move(stream), .call = call});
}

Status collective(ncclComm_t handle, cudaStream_t stream, Call call, const Asked& asked) {
  TUTTI_ASSIGN(const CommRef comm, find(handle));
  TUTTI_TRY(comm->readiness());
  TUTTI_ASSIGN(call.type, data_type_of(asked.type));
  const bool is_message = call.collective == Collective::send_receive;
  if (is_message && call.in != nullptr) call.root = comm->rank;
  Factor factor;
  if (plan::reduces(call.collective)) TUTTI_TRY(choose_reduction(*comm, asked, call, factor));
  // An empty collective is nothing, whatever the others do; an empty message is one that the other side takes.
  if (call.count == 0 && !is_message) return comm->side->validate(call);
  if (!factor) return collective(comm, stream, call);
  auto found = device::Devices::of_process().find_stream(stream, comm->device);
  if (found == nullptr) return collective(comm, stream, call);  // which says so
  TUTTI_TRY(comm->side->validate(call));
  return enqueue({.comm = comm, .stream = std::move(found), .call = call, .factor = std::move(factor)});
}

ncclResult_t answer_call(std::string_view name, const Status& status) {
  if (status) [[likely]]
    return ncclSuccess;
  spoil_group(status);
  return refuse(name, status);
}

namespace {

// Of a message this rank is one end, and the arguments name the other.
Status message(ncclComm_t handle, cudaStream_t stream, Call call, ncclDataType_t type, bool is_sender) {
  TUTTI_ASSIGN(const CommRef comm, find(handle));
  TUTTI_TRY(comm->readiness());
  TUTTI_ASSIGN(call.type, data_type_of(type));
  call.collective = Collective::send_receive;
  const Rank other = call.peer;
  if (other < 0 || other >= comm->size)
    return invalid_argument(fmt::format("peer {} is not one of {} ranks", other, comm->size));
  call.root = is_sender ? comm->rank : other;
  call.peer = is_sender ? other : comm->rank;
  return collective(comm, stream, call);
}

template <class Body>
ncclResult_t guarded(std::string_view name, Body&& body) noexcept {
  try {
    return answer_call(name, body());
  } catch (const std::exception& problem) {
    return refuse(name, Status(Code::out_of_memory, problem.what(), Scope::call));
  }
}

}  // namespace
}  // namespace tutti::nccl

using namespace tutti::nccl;
using tutti::plan::Collective;

TUTTI_NCCL_DEFINE(AllReduce, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                              ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)) {
  return guarded("ncclAllReduce", [&] {
    return collective(comm, stream,
                      {.collective = Collective::all_reduce, .in = sendbuff, .out = recvbuff, .count = count},
                      {datatype, op});
  });
}

TUTTI_NCCL_DEFINE(Broadcast, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                              ncclComm_t comm, cudaStream_t stream)) {
  return guarded("ncclBroadcast", [&] {
    return collective(
        comm, stream,
        {.collective = Collective::broadcast, .in = sendbuff, .out = recvbuff, .count = count, .root = root},
        {.type = datatype});
  });
}

TUTTI_NCCL_DEFINE(Bcast,
                  (void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream)) {
  return guarded("ncclBcast", [&] {
    return collective(comm, stream,
                      {.collective = Collective::broadcast, .in = buff, .out = buff, .count = count, .root = root},
                      {.type = datatype});
  });
}

TUTTI_NCCL_DEFINE(Reduce, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                           int root, ncclComm_t comm, cudaStream_t stream)) {
  return guarded("ncclReduce", [&] {
    return collective(comm, stream,
                      {.collective = Collective::reduce, .in = sendbuff, .out = recvbuff, .count = count, .root = root},
                      {datatype, op});
  });
}

TUTTI_NCCL_DEFINE(ReduceScatter, (const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
                                  ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)) {
  return guarded("ncclReduceScatter", [&] {
    return collective(comm, stream,
                      {.collective = Collective::reduce_scatter, .in = sendbuff, .out = recvbuff, .count = recvcount},
                      {datatype, op});
  });
}

TUTTI_NCCL_DEFINE(AllGather, (const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                              ncclComm_t comm, cudaStream_t stream)) {
  return guarded("ncclAllGather", [&] {
    return collective(comm, stream,
                      {.collective = Collective::all_gather, .in = sendbuff, .out = recvbuff, .count = sendcount},
                      {.type = datatype});
  });
}

TUTTI_NCCL_DEFINE(AlltoAll, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                             ncclComm_t comm, cudaStream_t stream)) {
  return guarded("ncclAlltoAll", [&] {
    return collective(comm, stream,
                      {.collective = Collective::all_to_all, .in = sendbuff, .out = recvbuff, .count = count},
                      {.type = datatype});
  });
}

TUTTI_NCCL_DEFINE(Gather, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                           ncclComm_t comm, cudaStream_t stream)) {
  return guarded("ncclGather", [&] {
    return collective(comm, stream,
                      {.collective = Collective::gather, .in = sendbuff, .out = recvbuff, .count = count, .root = root},
                      {.type = datatype});
  });
}

TUTTI_NCCL_DEFINE(Scatter, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                            ncclComm_t comm, cudaStream_t stream)) {
  return guarded("ncclScatter", [&] {
    return collective(
        comm, stream,
        {.collective = Collective::scatter, .in = sendbuff, .out = recvbuff, .count = count, .root = root},
        {.type = datatype});
  });
}

TUTTI_NCCL_DEFINE(Send, (const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                         cudaStream_t stream)) {
  return guarded("ncclSend",
                 [&] { return message(comm, stream, {.in = sendbuff, .count = count, .peer = peer}, datatype, true); });
}

TUTTI_NCCL_DEFINE(Recv, (void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                         cudaStream_t stream)) {
  return guarded("ncclRecv", [&] {
    return message(comm, stream, {.out = recvbuff, .count = count, .peer = peer}, datatype, false);
  });
}

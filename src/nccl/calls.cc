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

namespace {

Result<std::shared_ptr<device::HostStream>> stream_of(const ncclComm& comm, cudaStream_t handle) {
  auto stream = device::Devices::of_process().find_stream(handle, comm.device);
  if (stream == nullptr)
    return invalid_argument(
        fmt::format("{} is no stream, or one that was destroyed", static_cast<const void*>(handle)));
  if (stream->device() != comm.device)
    return Status(Code::invalid_usage, fmt::format("the stream is one of device {}, and rank {} of the communicator "
                                                   "uses device {}; use a stream of that device",
                                                   stream->device(), comm.rank, comm.device));
  return stream;
}

}  // namespace

Status collective(CommRef comm, cudaStream_t handle, const Call& call) {
  TUTTI_ASSIGN(auto stream, stream_of(*comm, handle));
  TUTTI_TRY(comm->side->validate(call));
  return enqueue(std::move(comm), std::move(stream), call);
}

Status collective(ncclComm_t handle, cudaStream_t stream, Call call, const Asked& asked,
                  std::shared_ptr<const void> keeps) {
  TUTTI_ASSIGN(CommRef comm, find(handle));
  TUTTI_TRY(comm->readiness());
  TUTTI_ASSIGN(call.type, data_type_of(asked.type));
  call.timeout = comm->call_timeout.load(std::memory_order_relaxed);
  const bool is_plain = keeps == nullptr && asked.op >= 0 && asked.op < ncclNumOps && call.count > 0;
  if (is_plain) [[likely]] {
    if (plan::reduces(call.collective)) call.reduction = built_in(asked.op);
    return collective(std::move(comm), stream, call);
  }
  Enqueued enqueued{.comm = comm, .stream = {}, .call = call, .keeps = std::move(keeps)};
  if (plan::reduces(call.collective)) TUTTI_TRY(choose_reduction(asked, enqueued));
  TUTTI_TRY(comm->side->validate(enqueued.call));
  // An empty collective is nothing, whatever the others do.
  if (call.count == 0 && call.counts.empty()) return {};
  TUTTI_ASSIGN(enqueued.stream, stream_of(*comm, stream));
  return enqueue(std::move(enqueued));
}

ncclResult_t answer_call(std::string_view name, const Status& status) noexcept {
  if (status) [[likely]]
    return ncclSuccess;
  spoil_group(status);
  return refuse(name, status);
}

namespace {

// Of a message this rank is one end, and the arguments name the other.
Status message(ncclComm_t handle, cudaStream_t stream, Call call, ncclDataType_t type, bool is_sender) {
  TUTTI_ASSIGN(CommRef comm, find(handle));
  TUTTI_TRY(comm->readiness());
  TUTTI_ASSIGN(call.type, data_type_of(type));
  call.collective = Collective::send_receive;
  call.timeout = comm->call_timeout.load(std::memory_order_relaxed);
  const Rank other = call.peer;
  if (other < 0 || other >= comm->size)
    return invalid_argument(fmt::format("peer {} is not one of {} ranks", other, comm->size));
  // Of a message to oneself only this knows which end it is.
  if (call.count > 0 && (is_sender ? call.in : call.out) == nullptr)
    return invalid_argument(fmt::format("the buffer of a message {} rank {} is NULL, and it has {} elements",
                                        is_sender ? "to" : "from", other, call.count));
  call.root = is_sender ? comm->rank : other;
  call.peer = is_sender ? other : comm->rank;
  return collective(std::move(comm), stream, call);
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

#include "nccl/operations.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "base/number.h"
#include "nccl/result.h"

namespace tutti::nccl {
namespace {

constexpr int kOperationsMax = 1 << 20;  // of one communicator: a program that never destroys them is told

template <class T>
double read_as(const void* scalar) {
  T value;
  std::memcpy(&value, scalar, sizeof(T));
  return static_cast<double>(value);
}

template <class Format>
double read_narrow(const void* scalar) {
  typename Format::Bits bits;
  std::memcpy(&bits, scalar, sizeof(bits));
  return static_cast<double>(Format::decode(bits));
}

double scalar_of(DataType type, const void* scalar) {
  switch (type) {
    case DataType::int8: return read_as<std::int8_t>(scalar);
    case DataType::uint8: return read_as<std::uint8_t>(scalar);
    case DataType::int32: return read_as<std::int32_t>(scalar);
    case DataType::uint32: return read_as<std::uint32_t>(scalar);
    case DataType::int64: return read_as<std::int64_t>(scalar);
    case DataType::uint64: return read_as<std::uint64_t>(scalar);
    case DataType::float32: return read_as<float>(scalar);
    case DataType::float64: return read_as<double>(scalar);
    case DataType::float16: return read_narrow<Float16Format>(scalar);
    case DataType::bfloat16: return read_narrow<Bfloat16Format>(scalar);
    case DataType::float8e4m3: return read_narrow<Float8e4m3Format>(scalar);
    case DataType::float8e5m2: return read_narrow<Float8e5m2Format>(scalar);
  }
  return 1;
}

}  // namespace

Op built_in(ncclRedOp_t op) {
  static constexpr std::array kBuiltIn = {Op::sum, Op::product, Op::max, Op::min, Op::average};
  return kBuiltIn[static_cast<std::size_t>(op)];
}

Status choose_reduction(const Asked& asked, Enqueued& enqueued) {
  ncclComm& comm = *enqueued.comm;
  Reduction& reduction = enqueued.call.reduction;
  if (asked.op >= 0 && asked.op < ncclNumOps) {
    reduction = built_in(asked.op);
    return {};
  }
  const std::lock_guard lock(comm.mutex);
  const auto found = comm.operations.find(static_cast<int>(asked.op));
  if (found == comm.operations.end())
    return invalid_argument(
        fmt::format("{} is no operation of this communicator; ncclSum to ncclAvg are, and what "
                    "ncclRedOpCreatePreMulSum made for it and ncclRedOpDestroy has not ended",
                    static_cast<int>(asked.op)));
  const ProgramOperation& operation = found->second;
  if (operation.type != asked.type)
    return invalid_argument(fmt::format("the operation was made for {}, and the call is for {}",
                                        name_of(static_cast<DataType>(operation.type)),
                                        name_of(static_cast<DataType>(asked.type))));
  if (operation.custom != nullptr) {
    reduction = Reduction(operation.custom->custom);
    // Both may be needed: counts and the operation.
    enqueued.keeps = std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
        std::move(enqueued.keeps), operation.custom);
    return {};
  }
  reduction = Reduction::scaled(operation.factor.value_or(1));
  if (!operation.factor)
    enqueued.factor = [type = static_cast<DataType>(operation.type), scalar = operation.scalar] {
      return scalar_of(type, scalar);
    };
  return {};
}

Status add_operation(ncclComm& comm, ProgramOperation operation, ncclRedOp_t& op) {
  const std::lock_guard lock(comm.mutex);
  if (comm.operations.size() >= kOperationsMax)
    return {Code::invalid_usage,
            fmt::format("the communicator has {} operations; destroy those that are no longer used", kOperationsMax)};
  const int number = ncclNumOps + comm.operation_count++ % (ncclMaxRedOp - ncclNumOps);
  comm.operations[number] = std::move(operation);
  op = static_cast<ncclRedOp_t>(number);
  return {};
}

}  // namespace tutti::nccl

using namespace tutti::nccl;
using tutti::Status;

TUTTI_NCCL_DEFINE(RedOpCreatePreMulSum, (ncclRedOp_t * op, void* scalar, ncclDataType_t datatype,
                                         ncclScalarResidence_t residence, ncclComm_t handle)) {
  return answer("ncclRedOpCreatePreMulSum", [&]() -> Status {
    if (op == nullptr || scalar == nullptr)
      return tutti::invalid_argument(op == nullptr ? "op is NULL" : "scalar is NULL");
    if (residence != ncclScalarDevice && residence != ncclScalarHostImmediate)
      return tutti::invalid_argument(
          fmt::format("{} is no residence of a scalar; ncclScalarDevice and ncclScalarHostImmediate are",
                      static_cast<int>(residence)));
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    TUTTI_ASSIGN(const tutti::DataType type, data_type_of(datatype));
    ProgramOperation operation{.type = datatype, .scalar = scalar};
    if (residence == ncclScalarHostImmediate) operation.factor = scalar_of(type, scalar);
    return add_operation(*comm, std::move(operation), *op);
  });
}

TUTTI_NCCL_DEFINE(RedOpDestroy, (ncclRedOp_t op, ncclComm_t handle)) {
  return answer("ncclRedOpDestroy", [&]() -> Status {
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    if (op >= 0 && op < ncclNumOps)
      return tutti::invalid_argument("ncclSum to ncclAvg were made by nobody, and cannot be destroyed");
    const std::lock_guard lock(comm->mutex);
    if (comm->operations.erase(static_cast<int>(op)) == 0)
      return tutti::invalid_argument(
          fmt::format("{} is no operation of this communicator, or one that was destroyed", static_cast<int>(op)));
    return {};
  });
}

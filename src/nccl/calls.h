// From the arguments of the NCCL interface to a call of a communicator on a stream.
#pragma once

#include <exception>
#include <memory>
#include <string_view>

#include <nccl.h>
#include "nccl/comm.h"
#include "tutti/communicator.h"
#include "tutti/status.h"

namespace tutti::nccl {

// How elements are added up; `op` may be one that the program has made.
struct Asked {
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t op = ncclSum;
};

// Checks it, and begins it now or with its group. `call` holds all but type and reduction; `keeps` what it points to.
Status collective(ncclComm_t handle, cudaStream_t stream, Call call, const Asked& asked,
                  std::shared_ptr<const void> keeps = {});
// The same for one that is complete, of a communicator that is ready.
Status collective(CommRef comm, cudaStream_t stream, const Call& call);

Result<DataType> data_type_of(ncclDataType_t type);
// A group that has a call that failed does nothing.
ncclResult_t answer_call(std::string_view name, const Status& status) noexcept;

// Runs the body of a C function that may belong to a group: no exception leaves it.
template <class Body>
ncclResult_t guarded(std::string_view name, Body&& body) noexcept {
  try {
    return answer_call(name, body());
  } catch (const std::exception& problem) {
    return answer_call(name, Status(Code::out_of_memory, problem.what(), Scope::call));
  }
}

}  // namespace tutti::nccl

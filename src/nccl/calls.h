// From the arguments of the NCCL interface to a call of a communicator on a stream.
#pragma once

#include <string_view>

#include "nccl.h"
#include "nccl/comm.h"
#include "tutti/call.h"
#include "tutti/status.h"

namespace tutti::nccl {

// How elements are added up; `op` may be one that the program has made.
struct Asked {
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t op = ncclSum;
};

// Checks it, and begins it now or with its group. `call` holds all but type and reduction.
Status collective(ncclComm_t handle, cudaStream_t stream, Call call, const Asked& asked);
// The same for a call whose elements are not ours to know, such as those of a custom operation.
Status collective(const CommRef& comm, cudaStream_t stream, const Call& call);

Result<DataType> data_type_of(ncclDataType_t type);
// A group that has a call that failed does nothing.
ncclResult_t answer_call(std::string_view name, const Status& status);

}  // namespace tutti::nccl

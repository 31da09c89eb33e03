// Operations of reductions: those that NCCL has, and sums of products with a scalar that programs make.
#pragma once

#include "nccl/calls.h"
#include "nccl/comm.h"
#include "nccl/group.h"

namespace tutti::nccl {

// One of those that NCCL has: ncclSum to ncclAvg.
Op built_in(ncclRedOp_t op);
// Sets the reduction of the call, and what is known of it only when the call runs.
Status choose_reduction(const Asked& asked, Enqueued& enqueued);
Status add_operation(ncclComm& comm, ProgramOperation operation, ncclRedOp_t& op);

}  // namespace tutti::nccl

// Operations of reductions: those that NCCL has, and sums of products with a scalar that programs make.
#pragma once

#include <functional>

#include "nccl/calls.h"
#include "nccl/comm.h"
#include "tutti/call.h"

namespace tutti::nccl {

// Reads the scalar when the collective runs; empty: the factor is in the call.
using Factor = std::function<double()>;

// Sets the reduction of the call.
Status choose_reduction(ncclComm& comm, const Asked& asked, Call& call, Factor& factor);

}  // namespace tutti::nccl

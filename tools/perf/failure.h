// Failures of the two libraries that are measured, as statuses, and what the tools exit with because of them.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <string_view>

#include "tutti/status.h"

namespace tutti::perf {

// Those of nccl-tests, but for usage, where it says success.
inline constexpr int kExitDone = 0;
inline constexpr int kExitInternal = 1;
inline constexpr int kExitUsage = 2;  // as for a failure of CUDA, which is 2 there too
inline constexpr int kExitNccl = 3;
inline constexpr int kExitTimeout = 4;
inline constexpr int kExitUnsupported = 5;
inline constexpr int kExitInvalid = 6;
inline constexpr int kExitWrong = 7;   // wrong data, or less bandwidth than NCCL_TESTS_MIN_BW asks for
inline constexpr int kExitSlower = 8;  // slower than the baseline of --compare

// `what` is the call, as in "ncclAllReduce".
Status of_cuda(cudaError_t error, std::string_view what);
Status of_nccl(ncclResult_t result, std::string_view what, ncclComm_t comm = nullptr);
int exit_code_of(const Status& failure);

}  // namespace tutti::perf

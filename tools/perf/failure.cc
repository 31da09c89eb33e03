#include "tools/perf/failure.h"

#include <fmt/format.h>

namespace tutti::perf {

Status of_cuda(cudaError_t error, std::string_view what) {
  if (error == cudaSuccess) return {};
  return {Code::device, fmt::format("{}: {} ({})", what, cudaGetErrorString(error), cudaGetErrorName(error))};
}

Status of_nccl(ncclResult_t result, std::string_view what, ncclComm_t comm) {
  if (result == ncclSuccess || result == ncclInProgress) return {};
  const char* detail = ncclGetLastError(comm);
  const std::string_view reason = detail != nullptr && *detail != '\0' ? detail : ncclGetErrorString(result);
  return {Code::network, fmt::format("{}: {}", what, reason)};
}

int exit_code_of(const Status& failure) {
  switch (failure.code()) {
    case Code::ok: return kExitDone;
    case Code::invalid_argument:
    case Code::device: return kExitUsage;
    case Code::invalid_usage: return kExitInvalid;
    case Code::unsupported: return kExitUnsupported;
    case Code::timed_out: return kExitTimeout;
    case Code::out_of_memory:
    case Code::aborted:
    case Code::peer_lost:
    case Code::network: return kExitNccl;
    case Code::internal: return kExitInternal;
  }
  return kExitInternal;
}

}  // namespace tutti::perf

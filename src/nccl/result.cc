#include "nccl/result.h"

#include <fmt/format.h>

#include "base/log.h"

namespace tutti::nccl {
namespace {

thread_local std::string sentence;

}  // namespace

ncclResult_t result_of(Code code) {
  switch (code) {
    case Code::ok: return ncclSuccess;
    case Code::invalid_argument: return ncclInvalidArgument;
    case Code::invalid_usage:
    case Code::unsupported:
    case Code::aborted: return ncclInvalidUsage;
    case Code::out_of_memory: return ncclSystemError;
    case Code::timed_out:
    case Code::peer_lost:
    case Code::network: return ncclRemoteError;
    case Code::device: return ncclUnhandledCudaError;
    case Code::internal: break;
  }
  return ncclInternalError;
}

ncclResult_t refuse(std::string_view call, const Status& why) {
  sentence = fmt::format("{}: {}", call, why.text());
  log::write(LogLevel::warning, kNoRank, sentence);
  return result_of(why.code());
}

const char* last_sentence() { return sentence.c_str(); }

}  // namespace tutti::nccl

using tutti::nccl::answer;

extern "C" __attribute__((visibility("default"))) const char* pncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess: return "no error";
    case ncclUnhandledCudaError: return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError: return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError: return "internal error";
    case ncclInvalidArgument: return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage: return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError: return "remote process exited or there was a network error";
    case ncclInProgress: return "NCCL operation in progress";
    case ncclNumResults: break;
  }
  return "unknown result code";
}
extern "C" __attribute__((visibility("default"))) const char* ncclGetErrorString(ncclResult_t result)
    __attribute__((weak, alias("pncclGetErrorString")));

TUTTI_NCCL_DEFINE(GetVersion, (int* version)) {
  return answer("ncclGetVersion", [&]() -> tutti::Status {
    if (version == nullptr) return tutti::invalid_argument("version is NULL");
    *version = NCCL_VERSION_CODE;
    return {};
  });
}

// Settings of the log are read by the first communicator, and there is nothing to forget before that.
extern "C" __attribute__((visibility("default"))) void pncclResetDebugInit() {}
extern "C" __attribute__((visibility("default"))) void ncclResetDebugInit()
    __attribute__((weak, alias("pncclResetDebugInit")));

// Settings of single calls, and of encryption, that came to NCCL after 2.28.
#include <fmt/format.h>
#include <nccl.h>

#include <cstddef>

#include "base/log.h"
#include "nccl/calls.h"
#include "nccl/result.h"
#include "os/environment.h"

namespace tutti::nccl {
namespace {

// What a call may be told: which of it has a meaning here.
Status validate(const ncclCollConfig_t* config) {
  if (config == nullptr) return {};
  if (config->magic != NCCL_API_MAGIC || config->size < offsetof(ncclCollConfig_t, userProfilerTag))
    return invalid_argument(
        "the configuration was not initialised; begin with ncclCollConfig_t config = NCCL_COLLCONFIG_INITIALIZER");
  const bool has_selection = config->algSelection != nullptr && *config->algSelection != 0;
  if (has_selection && config->forceAlgSelection != 0)
    return {
        Code::unsupported,
        fmt::format("algSelection '{}' of one call cannot be forced: all calls of a communicator are planned alike; "
                    "set NCCL_ALGO, or forceAlgSelection to 0",
                    config->algSelection)};
  const bool has_event = config->size >= offsetof(ncclCollConfig_t, launchCompletionEvent) + sizeof(cudaEvent_t);
  if (has_event && config->launchCompletionEvent != nullptr)
    return {Code::unsupported,
            "launchCompletionEvent tells when a kernel was launched, and there is none; record an "
            "event before the call instead"};
  return {};
}

// The call itself, once its settings are good.
template <class Body>
ncclResult_t configured(std::string_view name, const ncclCollConfig_t* config, Body&& body) {
  if (const Status status = validate(config); !status) return answer_call(name, status);
  return body();
}

}  // namespace
}  // namespace tutti::nccl

using namespace tutti::nccl;
using tutti::Status;

TUTTI_NCCL_DEFINE(AllReduceConfig,
                  (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                   ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config)) {
  return configured("ncclAllReduceConfig", config,
                    [&] { return pncclAllReduce(sendbuff, recvbuff, count, datatype, op, comm, stream); });
}

TUTTI_NCCL_DEFINE(BroadcastConfig, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                                    int root, ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config)) {
  return configured("ncclBroadcastConfig", config,
                    [&] { return pncclBroadcast(sendbuff, recvbuff, count, datatype, root, comm, stream); });
}

TUTTI_NCCL_DEFINE(ReduceConfig,
                  (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                   int root, ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config)) {
  return configured("ncclReduceConfig", config,
                    [&] { return pncclReduce(sendbuff, recvbuff, count, datatype, op, root, comm, stream); });
}

TUTTI_NCCL_DEFINE(AllGatherConfig, (const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                                    ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config)) {
  return configured("ncclAllGatherConfig", config,
                    [&] { return pncclAllGather(sendbuff, recvbuff, sendcount, datatype, comm, stream); });
}

TUTTI_NCCL_DEFINE(ReduceScatterConfig,
                  (const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype, ncclRedOp_t op,
                   ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config)) {
  return configured("ncclReduceScatterConfig", config,
                    [&] { return pncclReduceScatter(sendbuff, recvbuff, recvcount, datatype, op, comm, stream); });
}

TUTTI_NCCL_DEFINE(AlltoAllConfig, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                                   ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config)) {
  return configured("ncclAlltoAllConfig", config,
                    [&] { return pncclAlltoAll(sendbuff, recvbuff, count, datatype, comm, stream); });
}

TUTTI_NCCL_DEFINE(GatherConfig, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                                 ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config)) {
  return configured("ncclGatherConfig", config,
                    [&] { return pncclGather(sendbuff, recvbuff, count, datatype, root, comm, stream); });
}

TUTTI_NCCL_DEFINE(ScatterConfig, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                                  ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config)) {
  return configured("ncclScatterConfig", config,
                    [&] { return pncclScatter(sendbuff, recvbuff, count, datatype, root, comm, stream); });
}

// The secret of the job, which its identifier carries, is a better key than one that programs hold; so the one that is
// given here is not needed.
TUTTI_NCCL_DEFINE(SetEncryption, (const ncclEncryptionConfig_t* config)) {
  return answer("ncclSetEncryption", [&]() -> Status {
    if (config == nullptr || config->magic != NCCL_API_MAGIC || config->size < sizeof(ncclEncryptionConfig_t))
      return tutti::invalid_argument(
          "the configuration was not initialised; begin with ncclEncryptionConfig_t config "
          "= NCCL_ENCRYPTION_CONFIG_INITIALIZER");
    if (config->mode != NCCL_ENCRYPTION_MODE_NONE && config->mode != NCCL_ENCRYPTION_MODE_PSK)
      return tutti::invalid_argument(fmt::format("{} is no mode of encryption; 0 and 1 are", config->mode));
    const bool is_on = config->mode == NCCL_ENCRYPTION_MODE_PSK;
    if (const auto set = tutti::os::environment_variable("TUTTI_ENCRYPT"))
      tutti::log::write(tutti::LogLevel::info, tutti::kNoRank,
                        fmt::format("TUTTI_ENCRYPT={} counts, not ncclSetEncryption", *set));
    tutti::os::supply_variable("TUTTI_ENCRYPT", is_on ? "1" : "0");
    return {};
  });
}

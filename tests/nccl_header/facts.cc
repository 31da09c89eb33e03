// Prints what a nccl.h says, name by name: compiled with ours and with NVIDIA's own, whose outputs must be the same.
#include <nccl.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <typeinfo>

#define VALUE(name) std::printf(#name " %lld\n", static_cast<long long>(name))
#define SIZE(type) std::printf("sizeof " #type " %zu %zu\n", sizeof(type), alignof(type))
#define MEMBER(type, name) \
  std::printf(#type "." #name " %zu %zu\n", offsetof(type, name), sizeof(static_cast<type*>(nullptr)->name))
#define FUNCTION(which)                                                      \
  std::printf("nccl" #which " %s\n", typeid(decltype(&nccl##which)).name()); \
  std::printf("pnccl" #which " %s\n", typeid(decltype(&pnccl##which)).name())

namespace {

void print_values() {
  VALUE(NCCL_MAJOR);
  VALUE(NCCL_MINOR);
  VALUE(NCCL_PATCH);
  VALUE(NCCL_VERSION_CODE);
  VALUE(NCCL_VERSION(2, 8, 4));
  VALUE(NCCL_VERSION(2, 9, 6));
  VALUE(NCCL_UNIQUE_ID_BYTES);
  VALUE(NCCL_CONFIG_UNDEF_INT);
  VALUE(NCCL_SPLIT_NOCOLOR);
  VALUE(NCCL_WIN_DEFAULT);
  VALUE(NCCL_WIN_COLL_SYMMETRIC);
  VALUE(NCCL_WIN_REQUIRED_ALIGNMENT);
  VALUE(NCCL_CTA_POLICY_DEFAULT);
  VALUE(NCCL_CTA_POLICY_EFFICIENCY);
  VALUE(NCCL_CTA_POLICY_ZERO);
  VALUE(NCCL_SHRINK_DEFAULT);
  VALUE(NCCL_SHRINK_ABORT);
  VALUE(NCCL_REVOKE_DEFAULT);
  VALUE(ncclSuccess);
  VALUE(ncclUnhandledCudaError);
  VALUE(ncclSystemError);
  VALUE(ncclInternalError);
  VALUE(ncclInvalidArgument);
  VALUE(ncclInvalidUsage);
  VALUE(ncclRemoteError);
  VALUE(ncclInProgress);
  VALUE(ncclNumResults);
  VALUE(ncclSum);
  VALUE(ncclProd);
  VALUE(ncclMax);
  VALUE(ncclMin);
  VALUE(ncclAvg);
  VALUE(ncclNumOps);
  VALUE(ncclMaxRedOp);
  VALUE(ncclInt8);
  VALUE(ncclChar);
  VALUE(ncclUint8);
  VALUE(ncclInt32);
  VALUE(ncclInt);
  VALUE(ncclUint32);
  VALUE(ncclInt64);
  VALUE(ncclUint64);
  VALUE(ncclFloat16);
  VALUE(ncclHalf);
  VALUE(ncclFloat32);
  VALUE(ncclFloat);
  VALUE(ncclFloat64);
  VALUE(ncclDouble);
  VALUE(ncclBfloat16);
  VALUE(ncclFloat8e4m3);
  VALUE(ncclFloat8e5m2);
  VALUE(ncclNumTypes);
  VALUE(ncclScalarDevice);
  VALUE(ncclScalarHostImmediate);
}

void print_layouts() {
  SIZE(ncclResult_t);
  SIZE(ncclRedOp_t);
  SIZE(ncclDataType_t);
  SIZE(ncclUniqueId);
  SIZE(ncclConfig_t);
  SIZE(ncclSimInfo_t);
  MEMBER(ncclConfig_t, size);
  MEMBER(ncclConfig_t, magic);
  MEMBER(ncclConfig_t, version);
  MEMBER(ncclConfig_t, blocking);
  MEMBER(ncclConfig_t, cgaClusterSize);
  MEMBER(ncclConfig_t, minCTAs);
  MEMBER(ncclConfig_t, maxCTAs);
  MEMBER(ncclConfig_t, netName);
  MEMBER(ncclConfig_t, splitShare);
  MEMBER(ncclConfig_t, trafficClass);
  MEMBER(ncclConfig_t, commName);
  MEMBER(ncclConfig_t, collnetEnable);
  MEMBER(ncclConfig_t, CTAPolicy);
  MEMBER(ncclConfig_t, shrinkShare);
  MEMBER(ncclConfig_t, nvlsCTAs);
  MEMBER(ncclConfig_t, nChannelsPerNetPeer);
  MEMBER(ncclConfig_t, nvlinkCentricSched);
  MEMBER(ncclSimInfo_t, size);
  MEMBER(ncclSimInfo_t, magic);
  MEMBER(ncclSimInfo_t, version);
  MEMBER(ncclSimInfo_t, estimatedTime);
  // What the initialisers put there, padding aside.
  const ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  const ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  std::printf("config %zu %x %u %d %d %p\n", config.size, config.magic, config.version, config.blocking,
              config.nvlinkCentricSched, static_cast<const void*>(config.commName));
  std::printf("info %zu %x %u %f\n", info.size, info.magic, info.version, static_cast<double>(info.estimatedTime));
}

void print_functions() {
  FUNCTION(MemAlloc);
  FUNCTION(MemFree);
  FUNCTION(GetVersion);
  FUNCTION(GetUniqueId);
  FUNCTION(CommInitRankConfig);
  FUNCTION(CommInitRank);
  FUNCTION(CommInitAll);
  FUNCTION(CommFinalize);
  FUNCTION(CommDestroy);
  FUNCTION(CommAbort);
  FUNCTION(CommRevoke);
  FUNCTION(CommSplit);
  FUNCTION(CommShrink);
  FUNCTION(CommInitRankScalable);
  FUNCTION(GetErrorString);
  FUNCTION(GetLastError);
  FUNCTION(CommGetAsyncError);
  FUNCTION(CommCount);
  FUNCTION(CommCuDevice);
  FUNCTION(CommUserRank);
  FUNCTION(CommRegister);
  FUNCTION(CommDeregister);
  FUNCTION(CommWindowRegister);
  FUNCTION(CommWindowDeregister);
  FUNCTION(RedOpCreatePreMulSum);
  FUNCTION(RedOpDestroy);
  FUNCTION(Reduce);
  FUNCTION(Bcast);
  FUNCTION(Broadcast);
  FUNCTION(AllReduce);
  FUNCTION(ReduceScatter);
  FUNCTION(AllGather);
  FUNCTION(AlltoAll);
  FUNCTION(Gather);
  FUNCTION(Scatter);
  FUNCTION(Send);
  FUNCTION(Recv);
  FUNCTION(GroupStart);
  FUNCTION(GroupEnd);
  FUNCTION(GroupSimulateEnd);
}

}  // namespace

int main() {
  print_values();
  print_layouts();
  print_functions();
}

/* The NCCL interface, as Tutti offers it: source- and binary-compatible with NCCL 2.28.9, on machines with and without
 * GPUs. What came after 2.28.9 is declared at the end. docs/guide/nccl.md says what differs. */
#pragma once
#define NCCL_H_ /* which programs may look for */

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#if __has_include(<cuda_runtime.h>)
#include <cuda_runtime.h>
#else
/* Programs that use default streams only need no CUDA header. */
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
#endif

#define NCCL_MAJOR 2
#define NCCL_MINOR 28
#define NCCL_PATCH 9
#define NCCL_SUFFIX ""
/* Up to 2.8 versions had four digits. */
#define NCCL_VERSION(X, Y, Z) (((X) <= 2 && (Y) <= 8) ? (X)*1000 + (Y)*100 + (Z) : (X)*10000 + (Y)*100 + (Z))
#define NCCL_VERSION_CODE 22809

/* Defined by Tutti alone, for programs that want to know. */
#define TUTTI_NCCL 1

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ncclComm* ncclComm_t;
typedef struct ncclWindow_vidmem* ncclWindow_t;
#define NCCL_COMM_NULL NULL

#define NCCL_UNIQUE_ID_BYTES 128
typedef struct {
  char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef enum {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7,
  ncclNumResults = 8
} ncclResult_t;

#define NCCL_CONFIG_UNDEF_INT INT_MIN
#define NCCL_CONFIG_UNDEF_PTR NULL
#define NCCL_SPLIT_NOCOLOR -1
#define NCCL_UNDEF_FLOAT -1.0f

#define NCCL_WIN_DEFAULT 0x00
#define NCCL_WIN_COLL_SYMMETRIC 0x01
#define NCCL_WIN_REQUIRED_ALIGNMENT 4096

#define NCCL_CTA_POLICY_DEFAULT 0x00
#define NCCL_CTA_POLICY_EFFICIENCY 0x01
#define NCCL_CTA_POLICY_ZERO 0x02

#define NCCL_SHRINK_DEFAULT 0x00
#define NCCL_SHRINK_ABORT 0x01 /* ends what still runs on the parent first */
#define NCCL_REVOKE_DEFAULT 0x00

/* Begin with NCCL_CONFIG_INITIALIZER and set what matters. Sizes of other versions are understood. */
typedef struct ncclConfig_v22800 {
  size_t size;
  unsigned int magic;
  unsigned int version;
  int blocking;       /* 0: calls that take long return ncclInProgress */
  int cgaClusterSize; /* of GPU kernels: without meaning on virtual devices, as the next two */
  int minCTAs;
  int maxCTAs;
  const char* netName; /* "Socket", "IB" */
  int splitShare;
  int trafficClass;
  const char* commName; /* stands in the log and in failures */
  int collnetEnable;
  int CTAPolicy;
  int shrinkShare;
  int nvlsCTAs;
  int nChannelsPerNetPeer;
  int nvlinkCentricSched;
} ncclConfig_t;

#define NCCL_CONFIG_INITIALIZER                                                                                \
  {                                                                                                            \
    sizeof(ncclConfig_t), 0xcafebeef, NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH), NCCL_CONFIG_UNDEF_INT, \
        NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_PTR,            \
        NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_PTR, NCCL_CONFIG_UNDEF_INT,            \
        NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT,            \
        NCCL_CONFIG_UNDEF_INT,                                                                                 \
  }

typedef struct ncclSimInfo_v22200 {
  size_t size;
  unsigned int magic;
  unsigned int version;
  float estimatedTime; /* in microseconds */
} ncclSimInfo_t;

#define NCCL_SIM_INFO_INITIALIZER \
  { sizeof(ncclSimInfo_t), 0x74685283, NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH), NCCL_UNDEF_FLOAT }

typedef enum { ncclNumOps_dummy = 5 } ncclRedOp_dummy_t;
typedef enum {
  ncclSum = 0,
  ncclProd = 1,
  ncclMax = 2,
  ncclMin = 3,
  ncclAvg = 4,
  ncclNumOps = 5, /* operations that a program makes are numbered from here */
  ncclMaxRedOp = 0x7fffffff >> (32 - 8 * sizeof(ncclRedOp_dummy_t))
} ncclRedOp_t;

typedef enum {
  ncclInt8 = 0,
  ncclChar = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclInt = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclHalf = 6,
  ncclFloat32 = 7,
  ncclFloat = 7,
  ncclFloat64 = 8,
  ncclDouble = 8,
  ncclBfloat16 = 9,
  ncclFloat8e4m3 = 10,
  ncclFloat8e5m2 = 11,
  ncclNumTypes = 12
} ncclDataType_t;

typedef enum {
  ncclScalarDevice = 0,       /* read when the collective runs */
  ncclScalarHostImmediate = 1 /* read before the call returns */
} ncclScalarResidence_t;

/* Every function has a second name with a p in front, for libraries that stand between a program and this one. */
#define TUTTI_NCCL_BOTH(type, name, arguments) \
  type nccl##name arguments;                   \
  type pnccl##name arguments;
#define TUTTI_NCCL_CALL(name, arguments) TUTTI_NCCL_BOTH(ncclResult_t, name, arguments)

/* Versions and errors. */
TUTTI_NCCL_CALL(GetVersion, (int* version))
TUTTI_NCCL_BOTH(const char*, GetErrorString, (ncclResult_t result))
/* What went wrong last, in a sentence; comm may be NULL. */
TUTTI_NCCL_BOTH(const char*, GetLastError, (ncclComm_t comm))
TUTTI_NCCL_CALL(CommGetAsyncError, (ncclComm_t comm, ncclResult_t* asyncError))
#if defined(__cplusplus)
void ncclResetDebugInit();
void pncclResetDebugInit();
#else
void ncclResetDebugInit(void);
void pncclResetDebugInit(void);
#endif

/* Communicators. */
TUTTI_NCCL_CALL(GetUniqueId, (ncclUniqueId * uniqueId))
TUTTI_NCCL_CALL(CommInitRankConfig,
                (ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank, ncclConfig_t* config))
TUTTI_NCCL_CALL(CommInitRank, (ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank))
TUTTI_NCCL_CALL(CommInitAll, (ncclComm_t * comm, int ndev, const int* devlist))
TUTTI_NCCL_CALL(CommInitRankScalable,
                (ncclComm_t * newcomm, int nranks, int myrank, int nId, ncclUniqueId* commIds, ncclConfig_t* config))
TUTTI_NCCL_CALL(CommFinalize, (ncclComm_t comm))
TUTTI_NCCL_CALL(CommDestroy, (ncclComm_t comm))
TUTTI_NCCL_CALL(CommAbort, (ncclComm_t comm))
TUTTI_NCCL_CALL(CommRevoke, (ncclComm_t comm, int revokeFlags))
TUTTI_NCCL_CALL(CommSplit, (ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config))
TUTTI_NCCL_CALL(CommShrink, (ncclComm_t comm, int* excludeRanksList, int excludeRanksCount, ncclComm_t* newcomm,
                             ncclConfig_t* config, int shrinkFlags))
TUTTI_NCCL_CALL(CommCount, (const ncclComm_t comm, int* count))
TUTTI_NCCL_CALL(CommCuDevice, (const ncclComm_t comm, int* device))
TUTTI_NCCL_CALL(CommUserRank, (const ncclComm_t comm, int* rank))

/* Memory. */
TUTTI_NCCL_CALL(MemAlloc, (void** ptr, size_t size))
TUTTI_NCCL_CALL(MemFree, (void* ptr))
TUTTI_NCCL_CALL(CommRegister, (const ncclComm_t comm, void* buff, size_t size, void** handle))
TUTTI_NCCL_CALL(CommDeregister, (const ncclComm_t comm, void* handle))
TUTTI_NCCL_CALL(CommWindowRegister, (ncclComm_t comm, void* buff, size_t size, ncclWindow_t* win, int winFlags))
TUTTI_NCCL_CALL(CommWindowDeregister, (ncclComm_t comm, ncclWindow_t win))

/* Operations. */
TUTTI_NCCL_CALL(RedOpCreatePreMulSum, (ncclRedOp_t * op, void* scalar, ncclDataType_t datatype,
                                       ncclScalarResidence_t residence, ncclComm_t comm))
TUTTI_NCCL_CALL(RedOpDestroy, (ncclRedOp_t op, ncclComm_t comm))

/* Collectives and messages. */
TUTTI_NCCL_CALL(Reduce, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                         int root, ncclComm_t comm, cudaStream_t stream))
TUTTI_NCCL_CALL(Bcast,
                (void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream))
TUTTI_NCCL_CALL(Broadcast, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                            ncclComm_t comm, cudaStream_t stream))
TUTTI_NCCL_CALL(AllReduce, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                            ncclComm_t comm, cudaStream_t stream))
TUTTI_NCCL_CALL(ReduceScatter, (const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
                                ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream))
TUTTI_NCCL_CALL(AllGather, (const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                            ncclComm_t comm, cudaStream_t stream))
TUTTI_NCCL_CALL(AlltoAll, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclComm_t comm,
                           cudaStream_t stream))
TUTTI_NCCL_CALL(Gather, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                         ncclComm_t comm, cudaStream_t stream))
TUTTI_NCCL_CALL(Scatter, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                          ncclComm_t comm, cudaStream_t stream))
TUTTI_NCCL_CALL(Send, (const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                       cudaStream_t stream))
TUTTI_NCCL_CALL(Recv,
                (void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm, cudaStream_t stream))

/* Groups. */
#if defined(__cplusplus)
TUTTI_NCCL_CALL(GroupStart, ())
TUTTI_NCCL_CALL(GroupEnd, ())
#else
TUTTI_NCCL_CALL(GroupStart, (void))
TUTTI_NCCL_CALL(GroupEnd, (void))
#endif
TUTTI_NCCL_CALL(GroupSimulateEnd, (ncclSimInfo_t * simInfo))

/* Since 2.29: growing. */
TUTTI_NCCL_CALL(CommGetUniqueId, (ncclComm_t comm, ncclUniqueId* uniqueId))
TUTTI_NCCL_CALL(CommGrow, (ncclComm_t comm, int nRanks, const ncclUniqueId* uniqueId, int rank, ncclComm_t* newcomm,
                           ncclConfig_t* config))

/* Since 2.29: memory of a communicator. */
#define NCCL_SUSPEND_MEM 0x01
typedef enum {
  ncclStatGpuMemSuspend = 0,
  ncclStatGpuMemSuspended = 1,
  ncclStatGpuMemPersist = 2,
  ncclStatGpuMemTotal = 3
} ncclCommMemStat_t;
TUTTI_NCCL_CALL(CommSuspend, (ncclComm_t comm, int flags))
TUTTI_NCCL_CALL(CommResume, (ncclComm_t comm))
TUTTI_NCCL_CALL(CommMemStats, (ncclComm_t comm, ncclCommMemStat_t stat, uint64_t* value))

/* Since 2.29: one-sided. */
#define NCCL_WIN_STRICT_ORDERING 0x02
typedef struct {
  int opCnt;
  int peer;
  int sigIdx;
  int ctx;
} ncclWaitSignalDesc_t;
TUTTI_NCCL_CALL(WinGetUserPtr, (ncclComm_t comm, ncclWindow_t win, void** outUserPtr))
TUTTI_NCCL_CALL(PutSignal,
                (const void* localbuff, size_t count, ncclDataType_t datatype, int peer, ncclWindow_t peerWin,
                 size_t peerWinOffset, int sigIdx, int ctx, unsigned int flags, ncclComm_t comm, cudaStream_t stream))
TUTTI_NCCL_CALL(Signal, (int peer, int sigIdx, int ctx, unsigned int flags, ncclComm_t comm, cudaStream_t stream))
TUTTI_NCCL_CALL(WaitSignal, (int nDesc, ncclWaitSignalDesc_t* signalDescs, ncclComm_t comm, cudaStream_t stream))

/* Since 2.30: parameters, which are the variables of the environment. */
typedef struct ncclParamHandle* ncclParamHandle_t;
TUTTI_NCCL_CALL(ParamBind, (ncclParamHandle_t * out, const char* key))
TUTTI_NCCL_CALL(ParamGetI8, (ncclParamHandle_t h, int8_t* out))
TUTTI_NCCL_CALL(ParamGetI16, (ncclParamHandle_t h, int16_t* out))
TUTTI_NCCL_CALL(ParamGetI32, (ncclParamHandle_t h, int32_t* out))
TUTTI_NCCL_CALL(ParamGetI64, (ncclParamHandle_t h, int64_t* out))
TUTTI_NCCL_CALL(ParamGetU8, (ncclParamHandle_t h, uint8_t* out))
TUTTI_NCCL_CALL(ParamGetU16, (ncclParamHandle_t h, uint16_t* out))
TUTTI_NCCL_CALL(ParamGetU32, (ncclParamHandle_t h, uint32_t* out))
TUTTI_NCCL_CALL(ParamGetU64, (ncclParamHandle_t h, uint64_t* out))
TUTTI_NCCL_CALL(ParamGetStr, (ncclParamHandle_t h, const char** out))
TUTTI_NCCL_CALL(ParamGet, (ncclParamHandle_t h, void* out, int maxLen, int* len))
TUTTI_NCCL_CALL(ParamGetParameter, (const char* key, const char** value, int* valueLen))
TUTTI_NCCL_CALL(ParamGetAllParameterKeys, (const char*** table, int* tableLen))
void ncclParamDumpAll(void);
void pncclParamDumpAll(void);

/* Since 2.31: settings of one call. */
#define NCCL_API_MAGIC 0xcafebeef
typedef struct ncclConfigExt {
  struct ncclConfigExt* next;
  struct {
    int vendorId;
    int optionId;
  } key;
  union {
    int i;
    const char* s;
    void* raw;
  } val;
} ncclConfigExt_t;
typedef struct ncclCollConfig_v23200 {
  size_t size;
  unsigned int magic;
  unsigned int version;
  ncclConfigExt_t* ext;
  int minCTAs;
  int maxCTAs;
  int nvlsCTAs;
  int cgaClusterSize;
  const char* algSelection; /* as NCCL_ALGO: "ring,tree", "^ring" */
  int forceAlgSelection;
  int CTAPolicy;
  uint64_t userProfilerTag;
  cudaEvent_t launchCompletionEvent;
} ncclCollConfig_t;
#define NCCL_COLLCONFIG_INITIALIZER                                                                                 \
  {                                                                                                                 \
    sizeof(ncclCollConfig_t), NCCL_API_MAGIC, NCCL_VERSION(2, 32, 3), NCCL_CONFIG_UNDEF_PTR, NCCL_CONFIG_UNDEF_INT, \
        NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_PTR, 1,              \
        NCCL_CONFIG_UNDEF_INT, 0, NCCL_CONFIG_UNDEF_PTR,                                                            \
  }
TUTTI_NCCL_CALL(AllReduceConfig, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                                  ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config))
TUTTI_NCCL_CALL(BroadcastConfig, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                                  ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config))
TUTTI_NCCL_CALL(ReduceConfig,
                (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op, int root,
                 ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config))
TUTTI_NCCL_CALL(AllGatherConfig, (const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                                  ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config))
TUTTI_NCCL_CALL(ReduceScatterConfig,
                (const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype, ncclRedOp_t op,
                 ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config))
TUTTI_NCCL_CALL(AlltoAllConfig, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                                 ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config))
TUTTI_NCCL_CALL(GatherConfig, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                               ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config))
TUTTI_NCCL_CALL(ScatterConfig, (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                                ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t* config))

/* Since 2.32: encryption of what goes over TCP. */
typedef enum { NCCL_ENCRYPTION_MODE_NONE = 0, NCCL_ENCRYPTION_MODE_PSK = 1 } ncclEncryptionMode_t;
typedef struct ncclEncryptionConfig_v23200 {
  size_t size;
  unsigned int magic;
  unsigned int version;
  int mode;
  const char* psk;
} ncclEncryptionConfig_t;
#define NCCL_ENCRYPTION_CONFIG_INITIALIZER                                                             \
  {                                                                                                    \
    sizeof(ncclEncryptionConfig_t), NCCL_API_MAGIC, NCCL_VERSION(2, 32, 3), NCCL_ENCRYPTION_MODE_NONE, \
        NCCL_CONFIG_UNDEF_PTR,                                                                         \
  }
TUTTI_NCCL_CALL(SetEncryption, (const ncclEncryptionConfig_t* config))

#undef TUTTI_NCCL_CALL
#undef TUTTI_NCCL_BOTH

#ifdef __cplusplus
}
#endif

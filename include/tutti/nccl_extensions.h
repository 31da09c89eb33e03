// What programs written to NCCL ask for and NCCL does not have. In libnccl.so.2 of Tutti; docs/guide/nccl.md explains.
#pragma once

#include <nccl.h>

#ifdef __cplusplus
extern "C" {
#endif

// Buffers of all calls may lie in any memory of the process, also in the host's own: what malloc gives, arrays, files.

// As ncclAllGather, where rank i gives counts[i] elements; `counts` is the same on every rank. The output holds the
// blocks one after the other.
ncclResult_t tuttiNcclAllGatherV(const void* sendbuff, void* recvbuff, const size_t* counts, ncclDataType_t datatype,
                                 ncclComm_t comm, cudaStream_t stream);
// As ncclReduceScatter, where rank i gets counts[i] elements.
ncclResult_t tuttiNcclReduceScatterV(const void* sendbuff, void* recvbuff, const size_t* counts,
                                     ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);
// As ncclAlltoAll, where rank i sends counts[i * ranks + j] elements to rank j; all of it is the same on every rank.
// Blocks lie one after the other, by rank.
ncclResult_t tuttiNcclAlltoAllV(const void* sendbuff, void* recvbuff, const size_t* counts, ncclDataType_t datatype,
                                ncclComm_t comm, cudaStream_t stream);
// The stream goes on when the streams of all ranks have come here.
ncclResult_t tuttiNcclBarrier(ncclComm_t comm, cudaStream_t stream);

// How long calls of this communicator that are made from now on may wait for other ranks, in seconds; 0: as
// TUTTI_TIMEOUT says. To be set before one call and again after it for that call alone.
ncclResult_t tuttiNcclSetCallTimeout(ncclComm_t comm, double seconds);
// How long the communicators that this thread makes from now on may take to come about; 0: as TUTTI_START_TIMEOUT says.
ncclResult_t tuttiNcclSetStartTimeout(double seconds);
// The most memory, in bytes, that each rank takes for a communicator that this thread makes from now on, as
// ncclCommMemStats counts it (ncclStatGpuMemTotal): buffers, channels, plans. All ranks give the same. A start for
// which it is too little fails with ncclSystemError and says what is needed. Communicators made from another keep to
// the limit of that one. 0: as TUTTI_MEMORY_LIMIT says.
ncclResult_t tuttiNcclSetMemoryLimit(size_t bytes);

// value[i] = value[i] (+) operand[i] for `count` elements, in any number of threads at the same time. Elements need not
// be aligned. It must be associative; the order of operands is the same on every run.
typedef void (*tuttiNcclCombine)(void* value, const void* operand, size_t count, void* context);
// An operation for elements of any trivially copyable type of so many bytes. Calls that use it are given ncclUint8 as
// their type, and count elements of that size. The name is the same on every rank, as they compare it. Ended by
// ncclRedOpDestroy.
ncclResult_t tuttiNcclRedOpCreate(ncclRedOp_t* op, const char* name, size_t elementBytes, tuttiNcclCombine combine,
                                  void* context, ncclComm_t comm);

// Ends a group as ncclGroupSimulateEnd does, without running it: how its calls of the first communicator would run and
// why, in a few lines. Valid until this thread asks again; the end of an inner group says nothing.
ncclResult_t tuttiNcclGroupExplainEnd(const char** text);

#ifdef __cplusplus
}
#endif

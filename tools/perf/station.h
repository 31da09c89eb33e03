// A rank of this process: its device, stream, communicator and buffers.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/perf/options.h"
#include "tutti/status.h"

namespace tutti::perf {

// Memory of a device for one buffer, with room for guards and for a misaligned beginning.
struct DeviceMemory {
  std::byte* begin = nullptr;
  void* registration = nullptr;
};

struct Station {
  int rank = 0;  // in its communicator
  int device = 0;
  cudaStream_t stream = nullptr;
  ncclComm_t comm = nullptr;
  DeviceMemory send = {};
  DeviceMemory receive = {};
};

Status create_streams(std::span<Station> stations, const Options& options);
// Of one group; all stations of this process that belong to this call.
Status start_communicators(std::span<Station> stations, const ncclUniqueId& id, int ranks, const Options& options);
// Each buffer can hold so many bytes and its guards.
Status allocate(std::span<Station> stations, std::uint64_t bytes, const Options& options);
// Ends what the above have begun, also where only a part of it was.
Status release(std::span<Station> stations, const Options& options);

// Waits until the streams have done all that they were given; what has failed meanwhile; timed_out after the time of
// -T.
Status finish(std::span<const Station> stations, const Options& options);
// What lies behind a failure: that of a communicator, where one has failed, since streams and devices know no more.
Status cause_of(const Status& failure, std::span<const Station> stations);

// Virtual devices are memory of the host, which all of them share.
bool has_virtual_devices();
// What each of `sharers` ranks on this host may take of these devices.
Result<std::uint64_t> memory_of(std::span<const int> devices, int sharers);
// Of that, what one buffer may take. For real devices as nccl-tests reckons it.
std::uint64_t largest_buffer(std::uint64_t memory_bytes, bool is_virtual, bool checks);

}  // namespace tutti::perf

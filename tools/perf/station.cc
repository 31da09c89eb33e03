#include "tools/perf/station.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "os/clock.h"
#include "os/machine.h"
#include "tools/perf/failure.h"
#include "tools/perf/image.h"

namespace tutti::perf {

namespace {

constexpr std::size_t kElementBytesMax = 8;

std::uint64_t allocation_bytes(std::uint64_t bytes, const Options& options) {
  return bytes + 2 * kGuardBytes + static_cast<std::uint64_t>(options.unalign) * kElementBytesMax;
}

Status register_buffer(DeviceMemory& memory, ncclComm_t comm, std::uint64_t bytes, const Options& options) {
  if (options.local_register == 0) return {};
  if (options.local_register == 1)
    return of_nccl(ncclCommRegister(comm, memory.begin, bytes, &memory.registration), "ncclCommRegister", comm);
  auto* window = reinterpret_cast<ncclWindow_t*>(&memory.registration);
  return of_nccl(ncclCommWindowRegister(comm, memory.begin, bytes, window, NCCL_WIN_COLL_SYMMETRIC),
                 "ncclCommWindowRegister", comm);
}

Status unregister_buffer(DeviceMemory& memory, ncclComm_t comm, const Options& options) {
  if (memory.registration == nullptr) return {};
  void* registration = std::exchange(memory.registration, nullptr);
  if (options.local_register == 1) return of_nccl(ncclCommDeregister(comm, registration), "ncclCommDeregister", comm);
  return of_nccl(ncclCommWindowDeregister(comm, static_cast<ncclWindow_t>(registration)), "ncclCommWindowDeregister",
                 comm);
}

Status later_failure(const Station& station) {
  ncclResult_t later = ncclSuccess;
  TUTTI_TRY(of_nccl(ncclCommGetAsyncError(station.comm, &later), "ncclCommGetAsyncError", station.comm));
  return of_nccl(later, fmt::format("rank {}", station.rank), station.comm);
}

// Asks rather than waits: a stream whose communicator has failed may never end.
Status finish_until(const Station& station, Deadline end, int limit_s) {
  while (true) {
    const cudaError_t state = cudaStreamQuery(station.stream);
    if (state == cudaSuccess) return later_failure(station);
    TUTTI_TRY(later_failure(station));
    if (state != cudaErrorNotReady) return of_cuda(state, "cudaStreamQuery");
    if (limit_s > 0 && end.has_passed(os::now()))
      return {Code::timed_out, fmt::format("rank {} is not done after {} s (-T)", station.rank, limit_s)};
  }
}

}  // namespace

Status create_streams(std::span<Station> stations, const Options& options) {
  for (Station& station : stations) {
    TUTTI_TRY(of_cuda(cudaSetDevice(station.device), "cudaSetDevice"));
    if (options.null_stream != 0) continue;
    TUTTI_TRY(of_cuda(cudaStreamCreateWithFlags(&station.stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"));
  }
  return {};
}

Status start_communicators(std::span<Station> stations, const ncclUniqueId& id, int ranks, const Options& options) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  if (options.cta_policy >= 0) config.CTAPolicy = options.cta_policy;
  TUTTI_TRY(of_nccl(ncclGroupStart(), "ncclGroupStart"));
  for (Station& station : stations) {
    TUTTI_TRY(of_cuda(cudaSetDevice(station.device), "cudaSetDevice"));
    TUTTI_TRY(
        of_nccl(ncclCommInitRankConfig(&station.comm, ranks, id, station.rank, &config), "ncclCommInitRankConfig"));
  }
  return of_nccl(ncclGroupEnd(), "starting communicators");
}

Status allocate(std::span<Station> stations, std::uint64_t bytes, const Options& options) {
  const std::uint64_t needed = allocation_bytes(bytes, options);
  for (Station& station : stations) {
    TUTTI_TRY(of_cuda(cudaSetDevice(station.device), "cudaSetDevice"));
    for (DeviceMemory* memory : {&station.send, &station.receive}) {
      TUTTI_TRY(of_nccl(ncclMemAlloc(reinterpret_cast<void**>(&memory->begin), needed),
                        fmt::format("{} bytes on device {}", needed, station.device)));
    }
  }
  TUTTI_TRY(of_nccl(ncclGroupStart(), "ncclGroupStart"));
  for (Station& station : stations) {
    TUTTI_TRY(register_buffer(station.send, station.comm, needed, options));
    TUTTI_TRY(register_buffer(station.receive, station.comm, needed, options));
  }
  return of_nccl(ncclGroupEnd(), "registering buffers");
}

Status release(std::span<Station> stations, const Options& options) {
  for (Station& station : stations) {
    if (station.comm == nullptr) continue;
    TUTTI_TRY(unregister_buffer(station.send, station.comm, options));
    TUTTI_TRY(unregister_buffer(station.receive, station.comm, options));
  }
  // As a group: the end of a communicator may wait for the others of this process.
  TUTTI_TRY(of_nccl(ncclGroupStart(), "ncclGroupStart"));
  for (Station& station : stations) {
    if (station.comm != nullptr) TUTTI_TRY(of_nccl(ncclCommDestroy(station.comm), "ncclCommDestroy"));
    station.comm = nullptr;
  }
  TUTTI_TRY(of_nccl(ncclGroupEnd(), "ending communicators"));
  for (Station& station : stations) {
    TUTTI_TRY(of_cuda(cudaSetDevice(station.device), "cudaSetDevice"));
    for (DeviceMemory* memory : {&station.send, &station.receive}) {
      if (memory->begin != nullptr) TUTTI_TRY(of_nccl(ncclMemFree(memory->begin), "ncclMemFree"));
      memory->begin = nullptr;
    }
    if (station.stream != nullptr) TUTTI_TRY(of_cuda(cudaStreamDestroy(station.stream), "cudaStreamDestroy"));
    station.stream = nullptr;
  }
  return {};
}

Status finish(std::span<const Station> stations, const Options& options) {
  const Deadline end = Deadline::after(os::now(), std::chrono::seconds(options.timeout_s));
  for (const Station& station : stations) {
    // A failure of a virtual device's calls ends the wait, and who waits there does the work himself.
    if (options.timeout_s == 0 && has_virtual_devices()) {
      const cudaError_t ended = cudaStreamSynchronize(station.stream);
      TUTTI_TRY(later_failure(station));  // it knows why the stream failed
      TUTTI_TRY(of_cuda(ended, "cudaStreamSynchronize"));
    } else {
      TUTTI_TRY(finish_until(station, end, options.timeout_s));
    }
  }
  return {};
}

Status cause_of(const Status& failure, std::span<const Station> stations) {
  for (const Station& station : stations) {
    if (failure.code() != Code::device || station.comm == nullptr) continue;
    TUTTI_TRY(later_failure(station));
  }
  return failure;
}

bool has_virtual_devices() {
  static const bool answer = [] {
    cudaDeviceProp properties{};
    return cudaGetDeviceProperties(&properties, 0) == cudaSuccess &&
           std::string_view(properties.name).starts_with("Tutti virtual");
  }();
  return answer;
}

Result<std::uint64_t> memory_of(std::span<const int> devices, int sharers) {
  std::uint64_t least = ~std::uint64_t{0};
  for (const int device : devices) {
    cudaDeviceProp properties{};
    TUTTI_TRY(of_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties"));
    least = std::min<std::uint64_t>(least, properties.totalGlobalMem);
  }
  if (!has_virtual_devices()) return least;
  std::size_t free = 0;
  std::size_t total = 0;
  TUTTI_TRY(of_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo"));
  return free / static_cast<std::uint64_t>(std::max(sharers, 1));
}

std::uint64_t largest_buffer(std::uint64_t memory_bytes, bool is_virtual, bool checks) {
  // Some memory is kept back: of a device 1 GiB of each 16, at most 4, and another 1; of a host, a part of each share.
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  const std::uint64_t kept =
      is_virtual ? memory_bytes / 8
                 : std::min((memory_bytes + 16 * kGiB - 1) / (16 * kGiB), std::uint64_t{4}) * kGiB + kGiB;
  const std::uint64_t rest = memory_bytes > kept ? memory_bytes - kept : 0;
  return rest / (checks && !is_virtual ? 3 : 2) / kGuardBytes * kGuardBytes;
}

}  // namespace tutti::perf

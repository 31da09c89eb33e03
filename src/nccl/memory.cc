// Memory of the NCCL interface: what programs get, register, and lay open to other ranks.
#include "nccl/memory.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "device/host/allocations.h"
#include "device/host/devices.h"
#include "nccl/result.h"

namespace tutti::nccl {

using device::Allocations;

Status validate_range(const void* buffer, std::size_t bytes) {
  if (buffer == nullptr) return invalid_argument("the buffer is NULL");
  if (bytes == 0) return invalid_argument("the buffer has no bytes");
  if (bytes > std::numeric_limits<std::uintptr_t>::max() - reinterpret_cast<std::uintptr_t>(buffer))
    return invalid_argument(fmt::format("{} bytes from {} are more than memory has", bytes, buffer));
  // Memory that is not ours may be anything; of ours it is known where it ends.
  const auto allocation = Allocations::of_process().find(buffer);
  if (!allocation) return {};
  const auto* const end = allocation->bytes.data() + allocation->bytes.size();
  const auto left = static_cast<std::size_t>(end - static_cast<const std::byte*>(buffer));
  if (bytes <= left) return {};
  return invalid_argument(
      fmt::format("the buffer is said to have {} bytes, and its memory ends after {}", bytes, left));
}

}  // namespace tutti::nccl

using namespace tutti::nccl;
using tutti::Status;

TUTTI_NCCL_DEFINE(MemAlloc, (void** ptr, size_t size)) {
  return answer("ncclMemAlloc", [&]() -> Status {
    if (ptr == nullptr) return tutti::invalid_argument("the place for the address is NULL");
    *ptr = nullptr;
    if (size == 0) return tutti::invalid_argument("no bytes were asked for");
    TUTTI_TRY(tutti::device::Devices::of_process().check_any());
    const int device = tutti::device::Devices::of_process().current();
    TUTTI_ASSIGN(const std::span<std::byte> bytes,
                 Allocations::of_process().allocate(size, tutti::device::MemoryKind::device, device));
    *ptr = bytes.data();
    return {};
  });
}

// As cudaFree does it waits for the device: a call that is on a stream may still use the memory.
TUTTI_NCCL_DEFINE(MemFree, (void* ptr)) {
  return answer("ncclMemFree", [&]() -> Status {
    if (ptr == nullptr) return {};
    const auto allocation = Allocations::of_process().take(ptr);
    if (!allocation)
      return tutti::invalid_argument(fmt::format("no memory of ncclMemAlloc begins at {}, or it was freed", ptr));
    for (const auto& stream : tutti::device::Devices::of_process().streams_of(allocation->device))
      stream->synchronize(tutti::Deadline::never());
    Allocations::give_back(*allocation);
    return {};
  });
}

// Buffers are found by their addresses: whoever registers them makes nothing faster, and loses nothing.
TUTTI_NCCL_DEFINE(CommRegister, (const ncclComm_t handle, void* buff, size_t size, void** registration)) {
  return answer("ncclCommRegister", [&]() -> Status {
    if (registration == nullptr) return tutti::invalid_argument("the place for the handle is NULL");
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    TUTTI_TRY(validate_range(buff, size));
    auto made = std::make_unique<Registration>(Registration{buff, size});
    *registration = made.get();
    const std::lock_guard lock(comm->mutex);
    comm->registrations.emplace(made.get(), std::move(made));
    return {};
  });
}

TUTTI_NCCL_DEFINE(CommDeregister, (const ncclComm_t handle, void* registration)) {
  return answer("ncclCommDeregister", [&]() -> Status {
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    const std::lock_guard lock(comm->mutex);
    if (comm->registrations.erase(registration) == 0)
      return tutti::invalid_argument(
          fmt::format("{} is no registration of this communicator, or one that was ended", registration));
    return {};
  });
}

// Nothing is held back for later, so there is nothing that could be given up for a while.
TUTTI_NCCL_DEFINE(CommSuspend, (ncclComm_t handle, int flags)) {
  return answer("ncclCommSuspend", [&]() -> Status {
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    if (flags != NCCL_SUSPEND_MEM)
      return tutti::invalid_argument(fmt::format("flags are {:#x}; only NCCL_SUSPEND_MEM exists", flags));
    TUTTI_TRY(comm->readiness());
    if (comm->is_suspended.exchange(true))
      return {tutti::Code::invalid_usage, "the communicator is suspended already; resume it first"};
    comm->settle(std::chrono::hours(24));
    return {};
  });
}

TUTTI_NCCL_DEFINE(CommResume, (ncclComm_t handle)) {
  return answer("ncclCommResume", [&]() -> Status {
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    if (!comm->is_suspended.exchange(false)) return {tutti::Code::invalid_usage, "the communicator is not suspended"};
    return {};
  });
}

TUTTI_NCCL_DEFINE(CommMemStats, (ncclComm_t handle, ncclCommMemStat_t stat, uint64_t* value)) {
  return answer("ncclCommMemStats", [&]() -> Status {
    if (value == nullptr) return tutti::invalid_argument("the place for the value is NULL");
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    if (comm->side == nullptr) return comm->readiness();
    const tutti::MemoryUse use = comm->side->memory();
    switch (stat) {
      case ncclStatGpuMemSuspend: *value = 0; return {};
      case ncclStatGpuMemSuspended: *value = comm->is_suspended.load() ? 1 : 0; return {};
      case ncclStatGpuMemPersist:
      case ncclStatGpuMemTotal: *value = use.shared_bytes + use.private_bytes; return {};
    }
    return tutti::invalid_argument(fmt::format("{} is no statistic of memory", static_cast<int>(stat)));
  });
}

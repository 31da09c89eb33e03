// Calls that allocate, register and free memory, and tell what an address is.
#include <fmt/format.h>

#include <algorithm>

#include "cudart/call.h"
#include "cudart/queue.h"
#include "device/host/allocations.h"
#include "device/host/heap.h"
#include "os/machine.h"

namespace tutti::cudart {
namespace {

using device::Allocation;
using device::Allocations;
using device::Devices;
using device::MemoryKind;

Outcome allocate(void** place, std::size_t bytes, MemoryKind kind, unsigned flags) {
  if (place == nullptr) return invalid_value("the place for the address is null");
  const auto memory = Allocations::of_process().allocate(bytes, kind, Devices::of_process().current(), flags);
  if (!memory) return outcome_of(memory.status());
  *place = memory->data();
  return {};
}

Outcome allocate_pinned(void** place, std::size_t bytes, unsigned flags) {
  constexpr unsigned kKnown = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  if ((flags & ~kKnown) != 0) return invalid_value(fmt::format("{:#x} are no flags of cudaHostAlloc", flags));
  return allocate(place, bytes, MemoryKind::pinned, flags);
}

Outcome allocate_managed(void** place, std::size_t bytes, unsigned flags) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
    return invalid_value(fmt::format("{:#x} are no flags of cudaMallocManaged", flags));
  if (bytes == 0) return invalid_value("managed memory of 0 bytes");
  return allocate(place, bytes, MemoryKind::managed, flags);
}

Outcome allocate_in_order(void** place, std::size_t bytes, cudaStream_t handle) {
  StreamPointer stream;
  TUTTI_CUDART_TRY(find_stream(handle, stream));
  TUTTI_CUDART_TRY(check_not_captured(stream));
  if (place == nullptr) return invalid_value("the place for the address is null");
  // Nobody has the memory yet, so it may come before what is on the stream.
  const auto memory = Allocations::of_process().allocate(bytes, MemoryKind::device, stream->device());
  if (!memory) return outcome_of(memory.status());
  *place = memory->data();
  return {};
}

bool is_of_device(MemoryKind kind) { return kind == MemoryKind::device || kind == MemoryKind::managed; }
bool is_pinned(MemoryKind kind) { return kind == MemoryKind::pinned; }
bool is_registered(MemoryKind kind) { return kind == MemoryKind::registered; }

// What begins at that address, which from then on is unknown: of two threads that free it one is told.
Outcome take(const void* data, bool (*is_wanted)(MemoryKind), Allocation& taken) {
  const auto found = Allocations::of_process().find(data);
  if (!found || found->bytes.data() != data)
    return invalid_value(fmt::format("no memory was allocated at {}, or it was freed", fmt::ptr(data)));
  if (!is_wanted(found->kind))
    return invalid_value(fmt::format("the memory at {} was allocated by another kind of call", fmt::ptr(data)));
  const auto own = Allocations::of_process().take(data);
  if (!own) return invalid_value(fmt::format("another thread has freed {}", fmt::ptr(data)));
  taken = *own;
  return {};
}

// Its device may be working on it.
Outcome release(void* data, bool (*is_wanted)(MemoryKind)) {
  if (data == nullptr) return {};
  Allocation allocation;
  TUTTI_CUDART_TRY(check_may_wait());
  TUTTI_CUDART_TRY(take(data, is_wanted, allocation));
  for (const auto& stream : Devices::of_process().streams_of(allocation.device)) stream->synchronize(Deadline::never());
  Allocations::give_back(allocation);
  return {};
}

Outcome release_in_order(void* data, cudaStream_t handle) {
  StreamPointer stream;
  TUTTI_CUDART_TRY(find_stream(handle, stream));
  TUTTI_CUDART_TRY(check_not_captured(stream));
  if (data == nullptr) return {};
  Allocation allocation;
  TUTTI_CUDART_TRY(take(data, is_of_device, allocation));
  return enqueue_function(stream, [allocation] { Allocations::give_back(allocation); });
}

Outcome register_host(void* data, std::size_t bytes, unsigned flags) {
  constexpr unsigned kKnown =
      cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
  if (data == nullptr || bytes == 0) return invalid_value("there is nothing to register");
  if ((flags & ~kKnown) != 0) return invalid_value(fmt::format("{:#x} are no flags of cudaHostRegister", flags));
  const std::span memory(static_cast<std::byte*>(data), bytes);
  if (Allocations::of_process().add_registered(memory, Devices::of_process().current(), flags)) return {};
  return {cudaErrorHostMemoryAlreadyRegistered, fmt::format("some of {} bytes at {} are registered", bytes, data)};
}

Outcome unregister_host(void* data) {
  Allocation allocation;
  if (take(data, is_registered, allocation).is_ok()) {
    for (const auto& stream : Devices::of_process().streams_of(allocation.device))
      stream->synchronize(Deadline::never());
    return {};
  }
  return {cudaErrorHostMemoryNotRegistered, fmt::format("no registered memory begins at {}", data)};
}

Outcome find_host(const void* data, Allocation& allocation) {
  const auto found = Allocations::of_process().find(data);
  if (!found || found->kind == MemoryKind::device)
    return invalid_value(fmt::format("{} is no host memory that devices know", fmt::ptr(data)));
  allocation = *found;
  return {};
}

Outcome device_pointer_of(void** place, void* host, unsigned flags) {
  Allocation allocation;
  if (place == nullptr || flags != 0) return invalid_value("the place for the address is null, or flags are not 0");
  TUTTI_CUDART_TRY(find_host(host, allocation));
  *place = host;
  return {};
}

Outcome host_flags_of(unsigned* flags, void* host) {
  Allocation allocation;
  if (flags == nullptr) return invalid_value("the place for the flags is null");
  TUTTI_CUDART_TRY(find_host(host, allocation));
  *flags = allocation.flags;
  return {};
}

Outcome attributes_of(cudaPointerAttributes* attributes, const void* data) {
  if (attributes == nullptr) return invalid_value("the place for the attributes is null");
  auto* const address = const_cast<void*>(data);
  *attributes = {};
  const auto found = Allocations::of_process().find(data);
  attributes->device = found ? found->device : cudaInvalidDeviceId;
  attributes->devicePointer = found ? address : nullptr;
  attributes->hostPointer = !found || found->kind != MemoryKind::device ? address : nullptr;
  if (!found) return {};
  switch (found->kind) {
    case MemoryKind::device: attributes->type = cudaMemoryTypeDevice; break;
    case MemoryKind::managed: attributes->type = cudaMemoryTypeManaged; break;
    case MemoryKind::pinned:
    case MemoryKind::registered: attributes->type = cudaMemoryTypeHost; break;
  }
  return {};
}

// All devices have the same memory: the machine's, as far as the heap reaches.
Outcome memory_info(std::size_t* free, std::size_t* total) {
  if (free == nullptr || total == nullptr) return invalid_value("the place for the answer is null");
  const auto heap = device::Heap::of_process();
  if (!heap) return outcome_of(heap.status());
  *total = os::this_machine().memory_bytes;
  *free = std::min(*total, (*heap)->limit_bytes() - (*heap)->used_bytes());
  return {};
}

}  // namespace
}  // namespace tutti::cudart

using namespace tutti::cudart;
using tutti::device::MemoryKind;

extern "C" {

cudaError_t cudaMalloc(void** place, size_t bytes) {
  return call(
      __func__, [&] { return allocate(place, bytes, MemoryKind::device, 0); }, place, bytes);
}

cudaError_t cudaMallocManaged(void** place, size_t bytes, unsigned int flags) {
  return call(
      __func__, [&] { return allocate_managed(place, bytes, flags); }, place, bytes, flags);
}

cudaError_t cudaMallocAsync(void** place, size_t bytes, cudaStream_t stream) {
  return call(
      __func__, [&] { return allocate_in_order(place, bytes, stream); }, place, bytes, stream);
}

cudaError_t cudaMallocHost(void** place, size_t bytes) {
  return call(
      __func__, [&] { return allocate_pinned(place, bytes, cudaHostAllocDefault); }, place, bytes);
}

cudaError_t cudaHostAlloc(void** place, size_t bytes, unsigned int flags) {
  return call(
      __func__, [&] { return allocate_pinned(place, bytes, flags); }, place, bytes, flags);
}

cudaError_t cudaFree(void* data) {
  return call(
      __func__, [&] { return release(data, is_of_device); }, data);
}

cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
  return call(
      __func__, [&] { return release_in_order(data, stream); }, data, stream);
}

cudaError_t cudaFreeHost(void* data) {
  return call(
      __func__, [&] { return release(data, is_pinned); }, data);
}

cudaError_t cudaHostRegister(void* data, size_t bytes, unsigned int flags) {
  return call(
      __func__, [&] { return register_host(data, bytes, flags); }, data, bytes, flags);
}

cudaError_t cudaHostUnregister(void* data) {
  return call(
      __func__, [&] { return unregister_host(data); }, data);
}

cudaError_t cudaHostGetDevicePointer(void** place, void* host, unsigned int flags) {
  return call(
      __func__, [&] { return device_pointer_of(place, host, flags); }, place, host, flags);
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
  return call(
      __func__, [&] { return host_flags_of(flags, host); }, flags, host);
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call(
      __func__, [&] { return memory_info(free, total); }, free, total);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  return call(
      __func__, [&] { return attributes_of(attributes, data); }, attributes, data);
}

}  // extern "C"

// Calls about devices: how many, which one, what they are, waiting for them.
#include <cuda_profiler_api.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstring>

#include "cudart/call.h"
#include "cudart/peers.h"
#include "cudart/properties.h"
#include "cudart/queue.h"
#include "device/host/allocations.h"

namespace tutti::cudart {
namespace {

using device::Devices;

// As most GPUs have; here all streams are served alike.
constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

std::atomic<unsigned>& flags_of(int device) {
  static std::array<std::atomic<unsigned>, Devices::kCountMax> flags = {};
  return flags[static_cast<std::size_t>(device)];
}

Outcome check_flags(unsigned flags) {
  constexpr unsigned kKnown =
      cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;
  const unsigned schedule = flags & cudaDeviceScheduleMask;
  const bool is_one_way = (schedule & (schedule - 1)) == 0;
  if ((flags & ~kKnown) == 0 && is_one_way) return {};
  return invalid_value(fmt::format("{:#x} are no flags of a device", flags));
}

template <class Value>
Outcome give(Value* place, Value value) {
  if (place == nullptr) return invalid_value("the place for the answer is null");
  *place = value;
  return {};
}

// That there is none is an error too, as CUDA has it.
Outcome get_count(int* count) {
  TUTTI_CUDART_TRY(give(count, Devices::of_process().count()));
  return check_any_device();
}

Outcome get_properties(cudaDeviceProp* prop, int device) {
  TUTTI_CUDART_TRY(check_device(device));
  return give(prop, properties_of(device));
}

Outcome get_attribute(int* value, cudaDeviceAttr attribute, int device) {
  TUTTI_CUDART_TRY(check_device(device));
  const auto found = attribute_of(device, attribute);
  if (!found) return invalid_value(fmt::format("{} is no attribute of a device", static_cast<int>(attribute)));
  return give(value, *found);
}

Outcome get_bus_id(char* place, int length, int device) {
  TUTTI_CUDART_TRY(check_device(device));
  const std::string id = bus_id_of(device);
  if (place == nullptr || length < 1) return invalid_value("there is no place for the bus id");
  if (static_cast<std::size_t>(length) <= id.size())
    return invalid_value(fmt::format("a bus id takes {} bytes, there are {}", id.size() + 1, length));
  std::memcpy(place, id.c_str(), id.size() + 1);
  return {};
}

Outcome get_by_bus_id(int* device, const char* id) {
  if (device == nullptr || id == nullptr) return invalid_value("the bus id or the place for the device is null");
  const auto found = device_of_bus_id(id);
  if (!found) return invalid_value(fmt::format("'{}' is no PCI bus id", id));
  if (*found < 0) return {cudaErrorInvalidDevice, fmt::format("no device that this process sees has bus id {}", id)};
  return give(device, *found);
}

Outcome wait_for_device() {
  const int device = Devices::of_process().current();
  for (const auto& stream : Devices::of_process().streams_of(device))
    if (stream->recording() != nullptr) return check_not_captured(stream);
  return synchronize_device(device);
}

// What a device had is gone: memory, streams, peers. Events stay: they hold nothing of the device.
Outcome reset() {
  Devices& devices = Devices::of_process();
  const int device = devices.current();
  const Outcome outcome = synchronize_device(device);
  devices.destroy_streams_of(device);
  for (const auto& allocation : device::Allocations::of_process().take_all(device))
    device::Allocations::give_back(allocation);
  Peers::of_process().forget(device);
  flags_of(device) = 0;
  return outcome;
}

Outcome set_device(int device) {
  TUTTI_CUDART_TRY(check_device(device));
  return outcome_of(Devices::of_process().set_current(device));
}

Outcome set_flags(int device, unsigned flags) {
  TUTTI_CUDART_TRY(check_device(device));
  TUTTI_CUDART_TRY(check_flags(flags));
  flags_of(device) = flags;
  return {};
}

Outcome get_priorities(int* least, int* greatest) {
  if (least != nullptr) *least = kLeastPriority;
  if (greatest != nullptr) *greatest = kGreatestPriority;
  return {};
}

}  // namespace
}  // namespace tutti::cudart

using namespace tutti::cudart;
using tutti::device::Devices;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return call_without_device(
      __func__, [&] { return get_count(count); }, count);
}

cudaError_t cudaGetDevice(int* device) {
  return call(
      __func__, [&] { return give(device, Devices::of_process().current()); }, device);
}

cudaError_t cudaSetDevice(int device) {
  return call(
      __func__, [&] { return set_device(device); }, device);
}

cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags) {
  constexpr unsigned kFlagsAreValid = 1;
  return call(
      __func__,
      [&] {
        TUTTI_CUDART_TRY(check_device(device));
        return (flags & kFlagsAreValid) != 0 ? set_flags(device, device_flags) : Outcome();
      },
      device, device_flags, flags);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
  return call(
      __func__, [&] { return get_properties(prop, device); }, prop, device);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call(
      __func__, [&] { return get_attribute(value, attribute, device); }, value, attribute, device);
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  return call(
      __func__, [&] { return get_bus_id(id, length, device); }, length, device);
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return call(
      __func__, [&] { return get_by_bus_id(device, id); }, device);
}

cudaError_t cudaDeviceSynchronize() { return call(__func__, wait_for_device); }

cudaError_t cudaDeviceReset() { return call(__func__, reset); }

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call(
      __func__, [&] { return get_priorities(least, greatest); }, least, greatest);
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  return call(
      __func__, [&] { return set_flags(Devices::of_process().current(), flags); }, flags);
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  return call(
      __func__, [&] { return give(flags, flags_of(Devices::of_process().current()).load()); }, flags);
}

cudaError_t cudaDriverGetVersion(int* version) {
  return call_without_device(
      __func__, [&] { return give(version, CUDART_VERSION); }, version);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return call_without_device(
      __func__, [&] { return give(version, CUDART_VERSION); }, version);
}

cudaError_t cudaProfilerStart() { return cudaSuccess; }

cudaError_t cudaProfilerStop() { return cudaSuccess; }

}  // extern "C"

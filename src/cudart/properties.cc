#include "cudart/properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "base/text.h"
#include "device/host/devices.h"
#include "device/host/visible_devices.h"
#include "os/machine.h"

namespace tutti::cudart {
namespace {

// Buses are bytes; 0 is left out because programs take it for "unknown".
constexpr int kBusesPerDomain = 255;

// Which one of the machine it is, whatever this process calls it.
int number_of(int device) { return device::Devices::of_process().number_of(device); }
int domain_of(int device) { return number_of(device) / kBusesPerDomain; }
int bus_of(int device) { return 1 + number_of(device) % kBusesPerDomain; }

int clamped(std::size_t value) { return static_cast<int>(std::min<std::size_t>(value, INT_MAX)); }

// What kernels would be given; programs without kernels only print it.
void describe_kernels(cudaDeviceProp& prop) {
  prop.major = 9;
  prop.minor = 0;
  prop.warpSize = 32;
  prop.maxThreadsPerBlock = 1024;
  prop.maxThreadsPerMultiProcessor = 2048;
  prop.maxBlocksPerMultiProcessor = 32;
  constexpr int kBlockDimensions[] = {1024, 1024, 64};
  constexpr int kGridDimensions[] = {INT_MAX, 65535, 65535};
  std::copy_n(kBlockDimensions, 3, prop.maxThreadsDim);
  std::copy_n(kGridDimensions, 3, prop.maxGridSize);
  prop.sharedMemPerBlock = std::size_t{48} << 10;
  prop.sharedMemPerBlockOptin = prop.sharedMemPerBlock;
  prop.sharedMemPerMultiprocessor = prop.sharedMemPerBlock;
  prop.regsPerBlock = 65536;
  prop.regsPerMultiprocessor = 65536;
  prop.totalConstMem = std::size_t{64} << 10;
  prop.textureAlignment = 512;
  prop.texturePitchAlignment = 32;
  prop.surfaceAlignment = 512;
}

}  // namespace

cudaDeviceProp properties_of(int device) {
  const os::Machine& machine = os::this_machine();
  cudaDeviceProp prop{};
  std::strncpy(prop.name, "Tutti virtual device", sizeof(prop.name) - 1);
  const device::DeviceUuid uuid = device::uuid_of(number_of(device));
  static_assert(sizeof(prop.uuid) == sizeof(uuid));
  std::memcpy(&prop.uuid, uuid.data(), sizeof(uuid));
  describe_kernels(prop);
  prop.totalGlobalMem = machine.memory_bytes;
  prop.memPitch = INT_MAX;
  prop.multiProcessorCount = machine.usable_cores;
  prop.l2CacheSize = clamped(machine.cache_bytes_last);
  prop.integrated = 1;
  prop.canMapHostMemory = 1;
  prop.concurrentKernels = 1;
  prop.asyncEngineCount = 1;
  prop.unifiedAddressing = 1;
  prop.streamPrioritiesSupported = 1;
  prop.managedMemory = 1;
  prop.concurrentManagedAccess = 1;
  prop.directManagedMemAccessFromHost = 1;
  prop.hostNativeAtomicSupported = 1;
  prop.canUseHostPointerForRegisteredMem = 1;
  prop.hostRegisterSupported = 1;
  prop.memoryPoolsSupported = 0;
  prop.pciDomainID = domain_of(device);
  prop.pciBusID = bus_of(device);
  prop.hostNumaId = -1;
  prop.deviceNumaId = -1;
  return prop;
}

std::optional<int> attribute_of(int device, cudaDeviceAttr attribute) {
  const cudaDeviceProp prop = properties_of(device);
  switch (static_cast<int>(attribute)) {
    case cudaDevAttrMaxThreadsPerBlock: return prop.maxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX: return prop.maxThreadsDim[0];
    case cudaDevAttrMaxBlockDimY: return prop.maxThreadsDim[1];
    case cudaDevAttrMaxBlockDimZ: return prop.maxThreadsDim[2];
    case cudaDevAttrMaxGridDimX: return prop.maxGridSize[0];
    case cudaDevAttrMaxGridDimY: return prop.maxGridSize[1];
    case cudaDevAttrMaxGridDimZ: return prop.maxGridSize[2];
    case cudaDevAttrMaxSharedMemoryPerBlock: return clamped(prop.sharedMemPerBlock);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return clamped(prop.sharedMemPerBlockOptin);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return clamped(prop.sharedMemPerMultiprocessor);
    case cudaDevAttrTotalConstantMemory: return clamped(prop.totalConstMem);
    case cudaDevAttrWarpSize: return prop.warpSize;
    case cudaDevAttrMaxPitch: return clamped(prop.memPitch);
    case cudaDevAttrMaxRegistersPerBlock: return prop.regsPerBlock;
    case cudaDevAttrMaxRegistersPerMultiprocessor: return prop.regsPerMultiprocessor;
    case cudaDevAttrTextureAlignment: return clamped(prop.textureAlignment);
    case cudaDevAttrGpuOverlap: return 1;
    case cudaDevAttrMultiProcessorCount: return prop.multiProcessorCount;
    case cudaDevAttrIntegrated: return prop.integrated;
    case cudaDevAttrCanMapHostMemory: return prop.canMapHostMemory;
    case cudaDevAttrComputeMode: return cudaComputeModeDefault;
    case cudaDevAttrConcurrentKernels: return prop.concurrentKernels;
    case cudaDevAttrPciBusId: return prop.pciBusID;
    case cudaDevAttrPciDeviceId: return prop.pciDeviceID;
    case cudaDevAttrPciDomainId: return prop.pciDomainID;
    case cudaDevAttrL2CacheSize: return prop.l2CacheSize;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return prop.maxThreadsPerMultiProcessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return prop.maxBlocksPerMultiProcessor;
    case cudaDevAttrAsyncEngineCount: return prop.asyncEngineCount;
    case cudaDevAttrUnifiedAddressing: return prop.unifiedAddressing;
    case cudaDevAttrComputeCapabilityMajor: return prop.major;
    case cudaDevAttrComputeCapabilityMinor: return prop.minor;
    case cudaDevAttrStreamPrioritiesSupported: return prop.streamPrioritiesSupported;
    case cudaDevAttrManagedMemory: return prop.managedMemory;
    case cudaDevAttrConcurrentManagedAccess: return prop.concurrentManagedAccess;
    case cudaDevAttrDirectManagedMemAccessFromHost: return prop.directManagedMemAccessFromHost;
    case cudaDevAttrHostNativeAtomicSupported: return prop.hostNativeAtomicSupported;
    case cudaDevAttrCanUseHostPointerForRegisteredMem: return prop.canUseHostPointerForRegisteredMem;
    case cudaDevAttrHostRegisterSupported: return prop.hostRegisterSupported;
    case cudaDevAttrHostNumaId: return prop.hostNumaId;
    case cudaDevAttrNumaId: return prop.deviceNumaId;
    default: break;
  }
  // What is not listed virtual devices do not have.
  const bool is_known = attribute >= cudaDevAttrMaxThreadsPerBlock && attribute < cudaDevAttrMax;
  return is_known ? std::optional(0) : std::nullopt;
}

std::string bus_id_of(int device) { return fmt::format("{:04x}:{:02x}:00.0", domain_of(device), bus_of(device)); }

std::optional<int> device_of_bus_id(std::string_view id) {
  std::string wanted(id.substr(0, id.find('.')));
  std::ranges::transform(wanted, wanted.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::vector<std::string_view> parts = text::split(wanted, ':');
  if (parts.size() != 2 && parts.size() != 3) return std::nullopt;
  unsigned numbers[3] = {};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string part(parts[i]);
    if (part.empty() || part.size() > 8 || part.find_first_not_of("0123456789abcdef") != std::string::npos)
      return std::nullopt;
    numbers[i + 3 - parts.size()] = static_cast<unsigned>(std::stoul(part, nullptr, 16));
  }
  if (numbers[1] < 1 || numbers[1] > kBusesPerDomain || numbers[2] != 0 || numbers[0] > INT_MAX / 256)
    return std::nullopt;
  const int number = static_cast<int>(numbers[0]) * kBusesPerDomain + static_cast<int>(numbers[1]) - 1;
  return device::Devices::of_process().find_number(number);
}

}  // namespace tutti::cudart

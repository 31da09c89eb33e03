#include "cudart/peers.h"

#include <fmt/format.h>

#include "cudart/call.h"
#include "cudart/queue.h"

namespace tutti::cudart {

Peers& Peers::of_process() {
  static Peers& peers = *new Peers;  // never destroyed: threads may call until the very end
  return peers;
}

bool Peers::enable(int device, int peer) {
  const std::lock_guard lock(mutex_);
  return enabled_.emplace(device, peer).second;
}

bool Peers::disable(int device, int peer) {
  const std::lock_guard lock(mutex_);
  return enabled_.erase({device, peer}) > 0;
}

void Peers::forget(int device) {
  const std::lock_guard lock(mutex_);
  std::erase_if(enabled_, [&](const auto& pair) { return pair.first == device; });
}

namespace {

int current() { return device::Devices::of_process().current(); }

Outcome enable_access(int peer, unsigned flags) {
  TUTTI_CUDART_TRY(check_device(peer));
  if (flags != 0) return invalid_value("the flags of cudaDeviceEnablePeerAccess must be 0");
  if (peer == current()) return {cudaErrorInvalidDevice, fmt::format("device {} is the current one, no peer", peer)};
  if (Peers::of_process().enable(current(), peer)) return {};
  return {cudaErrorPeerAccessAlreadyEnabled, fmt::format("device {} reaches device {} already", current(), peer)};
}

Outcome disable_access(int peer) {
  TUTTI_CUDART_TRY(check_device(peer));
  if (Peers::of_process().disable(current(), peer)) return {};
  return {cudaErrorPeerAccessNotEnabled,
          fmt::format("access of device {} to device {} was not enabled", current(), peer)};
}

Outcome can_access(int* answer, int device, int peer) {
  if (answer == nullptr) return invalid_value("the place for the answer is null");
  TUTTI_CUDART_TRY(check_device(device));
  TUTTI_CUDART_TRY(check_device(peer));
  *answer = device != peer ? 1 : 0;
  return {};
}

Outcome attribute_between(int* value, cudaDeviceP2PAttr attribute, int source, int target) {
  if (value == nullptr) return invalid_value("the place for the value is null");
  TUTTI_CUDART_TRY(check_device(source));
  TUTTI_CUDART_TRY(check_device(target));
  if (source == target) return {cudaErrorInvalidDevice, "a device is no peer of itself"};
  switch (attribute) {
    case cudaDevP2PAttrAccessSupported:
    case cudaDevP2PAttrNativeAtomicSupported: *value = 1; return {};
    case cudaDevP2PAttrPerformanceRank:
    case cudaDevP2PAttrCudaArrayAccessSupported:
    case cudaDevP2PAttrOnlyPartialNativeAtomicSupported: *value = 0; return {};
  }
  return invalid_value(fmt::format("{} is no attribute of two devices", static_cast<int>(attribute)));
}

}  // namespace
}  // namespace tutti::cudart

using namespace tutti::cudart;

extern "C" {

cudaError_t cudaDeviceCanAccessPeer(int* answer, int device, int peer) {
  return call(
      __func__, [&] { return can_access(answer, device, peer); }, answer, device, peer);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return call(
      __func__, [&] { return enable_access(peer, flags); }, peer, flags);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call(
      __func__, [&] { return disable_access(peer); }, peer);
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int source, int target) {
  return call(
      __func__, [&] { return attribute_between(value, attribute, source, target); }, value, attribute, source, target);
}

}  // extern "C"

// Calls that would share memory and events with other processes: programs use NCCL for that.
#include "cudart/call.h"

namespace tutti::cudart {
namespace {

Outcome not_supported() {
  return {cudaErrorNotSupported, "virtual devices have no IPC handles; NCCL reaches memory of other processes without"};
}

}  // namespace
}  // namespace tutti::cudart

using namespace tutti::cudart;

extern "C" {

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* data) {
  return call(__func__, not_supported, handle, data);
}

cudaError_t cudaIpcOpenMemHandle(void** place, cudaIpcMemHandle_t, unsigned int flags) {
  return call(__func__, not_supported, place, flags);
}

cudaError_t cudaIpcCloseMemHandle(void* data) { return call(__func__, not_supported, data); }

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return call(__func__, not_supported, handle, event);
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t) {
  return call(__func__, not_supported, event);
}

}  // extern "C"

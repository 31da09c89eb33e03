// Calls that make, destroy, wait for and ask streams, and those that let them call functions of the program.
#include <fmt/format.h>

#include <algorithm>

#include "cudart/call.h"
#include "cudart/queue.h"

namespace tutti::cudart {
namespace {

using device::Devices;
using device::Executor;
using device::HostStream;

Outcome create(cudaStream_t* place, unsigned flags, int priority) {
  if (place == nullptr) return invalid_value("the place for the stream is null");
  if ((flags & ~unsigned{cudaStreamNonBlocking}) != 0)
    return invalid_value(fmt::format("{:#x} are no flags of a stream", flags));
  int least = 0;
  int greatest = 0;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  Devices& devices = Devices::of_process();
  const auto kind = flags == cudaStreamNonBlocking ? HostStream::Kind::non_blocking : HostStream::Kind::blocking;
  const auto handle = devices.create_stream(devices.current(), kind, std::clamp(priority, greatest, least));
  *place = static_cast<cudaStream_t>(const_cast<void*>(handle));
  return {};
}

bool is_default(cudaStream_t handle) {
  return handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread;
}

// What is on it still runs.
Outcome destroy(cudaStream_t handle) {
  StreamPointer stream;
  if (is_default(handle)) return {cudaErrorInvalidResourceHandle, "default streams cannot be destroyed"};
  TUTTI_CUDART_TRY(find_stream(handle, stream));
  if (const auto recording = stream->recording()) recording->capture().invalidate();
  Devices::of_process().destroy_stream(handle);
  return {};
}

Outcome wait_for(cudaStream_t handle) {
  if (may_wait() && Devices::of_process().is_known_to_rest(handle)) return {};
  StreamPointer stream;
  TUTTI_CUDART_TRY(find_stream(handle, stream));
  TUTTI_CUDART_TRY(check_not_captured(stream));
  return synchronize(stream);
}

Outcome query(cudaStream_t handle) {
  StreamPointer stream;
  TUTTI_CUDART_TRY(find_stream(handle, stream));
  TUTTI_CUDART_TRY(check_not_captured(stream));
  const auto order = Devices::of_process().order_of(stream);
  if (!std::ranges::all_of(order, [](const auto& one) { return one->is_idle(); })) return {cudaErrorNotReady, {}};
  return take_failure(*stream);
}

// What calls tell about a stream.
template <class Value, class Ask>
Outcome tell(cudaStream_t handle, Value* place, Ask ask) {
  StreamPointer stream;
  if (place == nullptr) return invalid_value("the place for the answer is null");
  TUTTI_CUDART_TRY(find_stream(handle, stream));
  *place = ask(*stream);
  return {};
}

Outcome call_function(cudaStream_t handle, cudaHostFn_t function, void* data) {
  StreamPointer stream;
  TUTTI_CUDART_TRY(find_stream(handle, stream));
  if (function == nullptr) return invalid_value("the function is null");
  return enqueue_function(
      stream, [=] { call_program([=] { function(data); }); }, device::FunctionTask::By::workers);
}

Outcome call_back(cudaStream_t handle, cudaStreamCallback_t callback, void* data, unsigned flags) {
  StreamPointer stream;
  TUTTI_CUDART_TRY(find_stream(handle, stream));
  if (callback == nullptr || flags != 0) return invalid_value("the function is null, or flags are not 0");
  if (const auto recording = stream->recording()) {
    recording->capture().invalidate();
    return {cudaErrorStreamCaptureUnsupported, "callbacks cannot be captured; use cudaLaunchHostFunc"};
  }
  return enqueue_function(
      stream, [=] { call_program([=] { callback(handle, cudaSuccess, data); }); }, device::FunctionTask::By::workers);
}

unsigned flags_of(const HostStream& stream) {
  return stream.kind() == HostStream::Kind::non_blocking ? cudaStreamNonBlocking : cudaStreamDefault;
}

}  // namespace
}  // namespace tutti::cudart

using namespace tutti::cudart;
using tutti::device::HostStream;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return call(
      __func__, [&] { return create(stream, cudaStreamDefault, 0); }, stream);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return call(
      __func__, [&] { return create(stream, flags, 0); }, stream, flags);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return call(
      __func__, [&] { return create(stream, flags, priority); }, stream, flags, priority);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call(
      __func__, [&] { return destroy(stream); }, stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call(
      __func__, [&] { return wait_for(stream); }, stream);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call(
      __func__, [&] { return query(stream); }, stream);
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return call(
      __func__, [&] { return tell(stream, flags, flags_of); }, stream, flags);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  const auto ask = [](const HostStream& one) { return one.priority(); };
  return call(
      __func__, [&] { return tell(stream, priority, ask); }, stream, priority);
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  const auto ask = [](const HostStream& one) { return one.device(); };
  return call(
      __func__, [&] { return tell(stream, device, ask); }, stream, device);
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  const auto ask = [](const HostStream& one) { return reinterpret_cast<std::uintptr_t>(&one); };
  return call(
      __func__, [&] { return tell(stream, id, ask); }, stream, id);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return call(
      __func__, [&] { return call_function(stream, function, data); }, stream, function, data);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int flags) {
  return call(
      __func__, [&] { return call_back(stream, callback, data, flags); }, stream, callback, data, flags);
}

}  // extern "C"

#include "cudart/queue.h"

#include <fmt/format.h>

#include <utility>

namespace tutti::cudart {
namespace {

using device::Devices;
using device::Executor;

thread_local bool is_in_program = false;

Outcome check_capture_of_others(const std::vector<StreamPointer>& order) {
  for (const auto& stream : order) {
    const auto recording = stream->recording();
    if (recording == nullptr) continue;
    recording->capture().invalidate();
    return {cudaErrorStreamCaptureImplicit,
            "the default stream waits for a stream that is being captured; create that one with cudaStreamNonBlocking"};
  }
  return {};
}

}  // namespace

Outcome find_stream(cudaStream_t handle, StreamPointer& stream) {
  stream = Devices::of_process().find_stream(handle);
  if (stream != nullptr) return {};
  return {cudaErrorInvalidResourceHandle,
          fmt::format("stream {} was destroyed or never created", fmt::ptr(reinterpret_cast<const void*>(handle)))};
}

Outcome check_device(int device) {
  const int count = Devices::of_process().count();
  if (device >= 0 && device < count) return {};
  return {cudaErrorInvalidDevice, fmt::format("device {} is none of the {} virtual devices; TUTTI_VIRTUAL_DEVICES says "
                                              "how many there are, CUDA_VISIBLE_DEVICES which of them are seen",
                                              device, count)};
}

Outcome enqueue(const StreamPointer& stream, device::Recording::Maker maker) {
  if (const auto recording = stream->recording()) {
    if (!recording->capture().is_valid())
      return {cudaErrorStreamCaptureInvalidated, "an earlier call has made the capture of this stream invalid"};
    recording->add(std::move(maker));
    return {};
  }
  const auto order = Devices::of_process().order_of(stream);
  if (order.size() > 1) TUTTI_CUDART_TRY(check_capture_of_others(order));
  Executor::of_process().submit(maker(), order);
  return {};
}

Outcome enqueue_function(const StreamPointer& stream, std::function<void()> function, device::FunctionTask::By by) {
  return enqueue(stream,
                 [function = std::move(function), by] { return std::make_shared<device::FunctionTask>(function, by); });
}

Outcome check_not_captured(const StreamPointer& stream) {
  const auto recording = stream->recording();
  if (recording == nullptr) {
    if (stream->kind() != device::HostStream::Kind::legacy) return {};
    return check_capture_of_others(Devices::of_process().order_of(stream));
  }
  recording->capture().invalidate();
  return {cudaErrorStreamCaptureUnsupported,
          "the stream is being captured: nothing runs on it that could be waited for"};
}

Outcome take_failure(device::HostStream& stream) {
  const Status failure = stream.take_failure();
  if (failure) return {};
  return {cudaErrorLaunchFailure, std::string(failure.text())};
}

void call_program(const std::function<void()>& function) {
  const bool before = std::exchange(is_in_program, true);
  function();
  is_in_program = before;
}

bool may_wait() { return !is_in_program; }

Outcome check_may_wait() {
  if (may_wait()) return {};
  return {cudaErrorNotPermitted, "a function that a stream calls may not wait for streams"};
}

Outcome synchronize(const StreamPointer& stream) {
  TUTTI_CUDART_TRY(check_may_wait());
  if (stream->kind() != device::HostStream::Kind::legacy) {
    stream->synchronize(Deadline::never());
    return take_failure(*stream);
  }
  for (const auto& one : Devices::of_process().order_of(stream)) one->synchronize(Deadline::never());
  return take_failure(*stream);
}

Outcome synchronize_device(int device) {
  TUTTI_CUDART_TRY(check_may_wait());
  Outcome first;
  for (const auto& stream : Devices::of_process().streams_of(device)) {
    stream->synchronize(Deadline::never());
    Outcome failure = take_failure(*stream);
    if (first.is_ok()) first = std::move(failure);
  }
  return first;
}

}  // namespace tutti::cudart

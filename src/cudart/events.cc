// Calls that record, await and compare events.
#include <fmt/format.h>

#include "cudart/call.h"
#include "cudart/handles.h"
#include "cudart/queue.h"

namespace tutti::cudart {
namespace {

using device::Devices;
using device::Executor;
using device::HostEvent;
using device::MarkTask;
using device::WaitTask;

Handles<cudaEvent_t, HostEvent>& events() {
  static auto& all = *new Handles<cudaEvent_t, HostEvent>;  // never destroyed: threads may call until the very end
  return all;
}

Outcome create(cudaEvent_t* place, unsigned flags) {
  if (place == nullptr) return invalid_value("the place for the event is null");
  constexpr unsigned kKnown = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if ((flags & ~kKnown) != 0) return invalid_value(fmt::format("{:#x} are no flags of an event", flags));
  const bool is_untimed = (flags & cudaEventDisableTiming) != 0;
  if ((flags & cudaEventInterprocess) != 0) {
    if (!is_untimed) return invalid_value("an event of several processes must have cudaEventDisableTiming");
    return {cudaErrorNotSupported, "virtual devices have no events of several processes"};
  }
  const auto timing = is_untimed ? HostEvent::Timing::off : HostEvent::Timing::on;
  *place = events().add(std::make_shared<HostEvent>(Devices::of_process().current(), timing));
  return {};
}

Outcome destroy(cudaEvent_t handle) {
  EventPointer event;
  TUTTI_CUDART_TRY(find_event(handle, event));
  events().remove(handle);
  return {};
}

Outcome record_captured(const EventPointer& event, const StreamPointer& stream, unsigned flags) {
  if (flags == cudaEventRecordExternal)
    return enqueue(stream, [event, stream] { return std::make_shared<MarkTask>(event->begin_record(stream)); });
  const auto recording = stream->recording();
  if (!recording->capture().is_valid())
    return {cudaErrorStreamCaptureInvalidated, "an earlier call has made the capture of this stream invalid"};
  event->record(recording->capture().mark(recording));
  return {};
}

Outcome record(cudaEvent_t handle, cudaStream_t stream_handle, unsigned flags) {
  EventPointer event;
  StreamPointer stream;
  TUTTI_CUDART_TRY(find_event(handle, event));
  TUTTI_CUDART_TRY(find_stream(stream_handle, stream));
  if ((flags & ~unsigned{cudaEventRecordExternal}) != 0)
    return invalid_value(fmt::format("{:#x} are no flags of a record", flags));
  if (event->device() != stream->device())
    return {cudaErrorInvalidResourceHandle,
            fmt::format("an event of device {} cannot be recorded on a stream of device {}", event->device(),
                        stream->device())};
  if (stream->recording() != nullptr) return record_captured(event, stream, flags);
  if (flags == cudaEventRecordExternal)
    return {cudaErrorIllegalState, "cudaEventRecordExternal is for streams that are being captured"};
  return enqueue(stream, [&] { return std::make_shared<MarkTask>(event->begin_record(stream)); });
}

Outcome wait_in_capture(const StreamPointer& stream, const device::CapturePoint& point) {
  auto& capture = point.recording->capture();
  if (!capture.is_valid())
    return {cudaErrorStreamCaptureInvalidated, "the event was recorded in a capture that is over or invalid"};
  const auto own = stream->recording();
  if (own != nullptr && &own->capture() != &capture) {
    own->capture().invalidate();
    capture.invalidate();
    return {cudaErrorStreamCaptureMerge, "the event belongs to another capture than the stream"};
  }
  if (stream->kind() == device::HostStream::Kind::legacy) {
    capture.invalidate();
    return {cudaErrorStreamCaptureImplicit, "the default stream cannot be captured"};
  }
  capture.wait(stream, point);
  return {};
}

Outcome wait(cudaStream_t stream_handle, cudaEvent_t handle, unsigned flags) {
  EventPointer event;
  StreamPointer stream;
  TUTTI_CUDART_TRY(find_stream(stream_handle, stream));
  TUTTI_CUDART_TRY(find_event(handle, event));
  if ((flags & ~unsigned{cudaEventWaitExternal}) != 0)
    return invalid_value(fmt::format("{:#x} are no flags of a wait", flags));
  const auto state = event->state();
  if (state.captured) return wait_in_capture(stream, *state.captured);
  const auto recording = stream->recording();
  if (recording != nullptr && flags == cudaEventWaitExternal) {
    // The record that is the last when the graph runs counts.
    return enqueue(stream, [event]() -> std::shared_ptr<device::Task> {
      const auto now = event->state();
      if (now.mark == nullptr) return std::make_shared<device::FunctionTask>([] {});
      return std::make_shared<WaitTask>(now.mark);
    });
  }
  if (state.mark == nullptr) return {};  // never recorded
  if (recording != nullptr) {
    recording->capture().invalidate();
    return {cudaErrorStreamCaptureIsolation, "the event was recorded outside of the capture"};
  }
  if (state.mark->is_done()) return {};
  return enqueue(stream, [&] { return std::make_shared<WaitTask>(state.mark); });
}

// The last record, which is done or not; nothing for an event that was never recorded.
Outcome state_of(cudaEvent_t handle, HostEvent::State& state) {
  EventPointer event;
  TUTTI_CUDART_TRY(find_event(handle, event));
  state = event->state();
  if (!state.captured) return {};
  state.captured->recording->capture().invalidate();
  return {cudaErrorCapturedEvent, "the event was last recorded in a capture: it never happens by itself"};
}

Outcome query(cudaEvent_t handle) {
  HostEvent::State state;
  TUTTI_CUDART_TRY(state_of(handle, state));
  if (state.mark == nullptr) return {};
  if (!state.mark->is_done()) return {cudaErrorNotReady, {}};
  return take_failure(*state.stream);
}

Outcome wait_for(cudaEvent_t handle) {
  HostEvent::State state;
  TUTTI_CUDART_TRY(state_of(handle, state));
  if (state.mark == nullptr) return {};
  if (!state.mark->is_done()) TUTTI_CUDART_TRY(check_may_wait());
  Executor::of_process().drive(state.mark->has_come, 1, Deadline::never());
  return take_failure(*state.stream);
}

Outcome elapsed(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (milliseconds == nullptr) return invalid_value("the place for the time is null");
  EventPointer events_of[2];
  HostEvent::State states[2];
  const cudaEvent_t handles[2] = {start, end};
  for (int i = 0; i < 2; ++i) {
    TUTTI_CUDART_TRY(find_event(handles[i], events_of[i]));
    TUTTI_CUDART_TRY(state_of(handles[i], states[i]));
    if (!events_of[i]->is_timed())
      return {cudaErrorInvalidResourceHandle, "an event was created with cudaEventDisableTiming"};
    if (states[i].mark == nullptr) return {cudaErrorInvalidResourceHandle, "an event was never recorded"};
  }
  if (events_of[0]->device() != events_of[1]->device())
    return {cudaErrorInvalidResourceHandle, "the events are of different devices"};
  if (!states[0].mark->is_done() || !states[1].mark->is_done()) return {cudaErrorNotReady, {}};
  const auto nanoseconds = static_cast<std::int64_t>(states[1].mark->at.ns - states[0].mark->at.ns);
  *milliseconds = static_cast<float>(static_cast<double>(nanoseconds) * 1e-6);
  return {};
}

}  // namespace

Outcome find_event(cudaEvent_t handle, EventPointer& event) {
  event = events().find(handle);
  if (event != nullptr) return {};
  return {cudaErrorInvalidResourceHandle,
          fmt::format("event {} was destroyed or never created", fmt::ptr(reinterpret_cast<const void*>(handle)))};
}

}  // namespace tutti::cudart

using namespace tutti::cudart;

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return call(
      __func__, [&] { return create(event, cudaEventDefault); }, event);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return call(
      __func__, [&] { return create(event, flags); }, event, flags);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call(
      __func__, [&] { return destroy(event); }, event);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call(
      __func__, [&] { return record(event, stream, cudaEventRecordDefault); }, event, stream);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return call(
      __func__, [&] { return record(event, stream, flags); }, event, stream, flags);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return call(
      __func__, [&] { return wait(stream, event, flags); }, stream, event, flags);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call(
      __func__, [&] { return query(event); }, event);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call(
      __func__, [&] { return wait_for(event); }, event);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call(
      __func__, [&] { return elapsed(milliseconds, start, end); }, milliseconds, start, end);
}

}  // extern "C"

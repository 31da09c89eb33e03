// How calls put work on streams, wait for it and learn that it failed.
#pragma once

#include <functional>
#include <memory>

#include "cudart/outcome.h"
#include "device/host/devices.h"
#include "device/host/event.h"
#include "device/host/executor.h"
#include "device/host/recording.h"
#include "device/host/stream.h"

namespace tutti::cudart {

using StreamPointer = std::shared_ptr<device::HostStream>;
using EventPointer = std::shared_ptr<device::HostEvent>;

Outcome find_stream(cudaStream_t handle, StreamPointer& stream);
Outcome find_event(cudaEvent_t handle, EventPointer& event);
Outcome check_device(int device);

// On the stream, or in what is captured on it. The default stream cannot be used while one that waits for it is
// captured.
Outcome enqueue(const StreamPointer& stream, device::Recording::Maker maker);
// The same for a function that is done at once when its turn has come.
Outcome enqueue_function(const StreamPointer& stream, std::function<void()> function,
                         device::FunctionTask::By by = device::FunctionTask::By::anybody);

// A stream that is captured cannot be waited for or asked: its capture is lost.
Outcome check_not_captured(const StreamPointer& stream);
// Until all that is on it has ended; for the default stream also what it waits for. Then the failure, if there is one.
Outcome synchronize(const StreamPointer& stream);
Outcome synchronize_device(int device);
Outcome take_failure(device::HostStream& stream);

// A function of the program that a stream calls. It may not wait for streams: the one it is on would never go on.
void call_program(const std::function<void()>& function);
bool may_wait();
Outcome check_may_wait();

}  // namespace tutti::cudart

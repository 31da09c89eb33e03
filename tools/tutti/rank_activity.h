// What a rank of this machine is doing, read from its flight recorder without asking it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "comm/watch/recording.h"
#include "launch/message.h"

namespace tutti::tool {

// Fills call, waits_for and bytes_per_s of the rank that the process `sample.pid` runs; what cannot be known stays
// empty. The recorder may be in a process below it: a shell, an interpreter. Halts nobody; some tens of microseconds a
// communicator.
void add_activity(launch::Sample& sample);

// The call that has been going on for longest among the communicators that are in use; those that wait for somebody
// come first. Nothing: the process is in no call.
struct CurrentCall {
  const comm::watch::Recording* recording = nullptr;
  const comm::watch::RecordedCall* call = nullptr;
};
std::optional<CurrentCall> current_call(std::span<const comm::watch::Recording> recordings);

// The bytes of the calls of the last second, or of the time that the recorder still remembers if that is shorter. A
// call counts with the part of its time that lies in there; one that is not over does not count.
std::uint64_t bytes_per_s(std::span<const comm::watch::Recording> recordings);

}  // namespace tutti::tool

// Reads the flight recorder of another process of this machine, which need not know: it may be hung, stopped or busy.
#pragma once

#include <sys/types.h>

#include <vector>

#include "comm/watch/recording.h"

namespace tutti::comm::watch {

// One for each communicator that the process has or had; none: it uses Tutti and has made no communicator yet. Fails
// with a sentence when there is no such process, when this user may not look, or when it has no recorder.
Result<std::vector<Recording>> read_process(pid_t pid);

}  // namespace tutti::comm::watch

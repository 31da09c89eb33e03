// Two processes that look after each other: whichever of them is killed, the other ends all that was started.
#pragma once

#include "os/file_descriptor.h"
#include "tutti/status.h"

namespace tutti::launch {

// Forks. The inner process returns, with a descriptor that becomes readable when the guard is gone; it gets SIGTERM
// then, too. The outer one, the guard, stays inside until the inner one has ended, kills whatever that has left, and
// ends with its exit code. It passes SIGTERM, SIGINT and SIGHUP on and has no descriptor open but stderr. Both adopt
// orphans. To be called before threads are started.
Result<os::FileDescriptor> fork_under_guard();

}  // namespace tutti::launch

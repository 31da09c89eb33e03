// A signal on which a process writes down its last calls, for where nobody can run `tutti inspect` beside it.
#pragma once

namespace tutti::comm::watch {

// With TUTTI_DUMP_SIGNAL=USR2 (or USR1) in the environment, and if the program has no handler of its own: starts to
// answer that signal. Without it, nothing: signals belong to the program. Any number of times.
void answer_dump_signal() noexcept;

}  // namespace tutti::comm::watch

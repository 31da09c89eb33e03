// One half of a barrier between a path that must be fast and one that may be slow.
#pragma once

namespace tutti::os {

// Every thread of every process has passed a full memory barrier when this returns: of two words, if this thread wrote
// one before and then reads the other, and another thread writes and reads them the other way around with nothing in
// between, at least one of them sees what the other has written. Takes milliseconds.
void await_barrier_everywhere();

}  // namespace tutti::os

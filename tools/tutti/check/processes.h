// What `tutti check` finds by starting processes that do what ranks do.
#pragma once

#include "tools/tutti/check/finding.h"

namespace tutti::tool::check {

Finding find_pulling();
// One process sleeps on a word, the other changes it and wakes the first.
Finding find_futex();
Finding find_meeting();
// To be called last: who is forked from a process with a heap cannot have its own.
Finding find_heap();

}  // namespace tutti::tool::check

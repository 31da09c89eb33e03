// Which cores this process may run on. Cores are hardware threads here, as the scheduler counts them.
#pragma once

#include <vector>

namespace tutti::os {

// Those that the scheduler may put this process on, in order: its own mask within that of its control group. Empty when
// the kernel does not tell.
std::vector<int> allowed_cores();

// How many of them the quota of its control group pays for, at least 1.
int usable_core_count();

}  // namespace tutti::os

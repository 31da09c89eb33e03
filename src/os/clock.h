// The steady clock of the machine, the same for all its processes, and the time of day.
#pragma once

#include <chrono>

#include "base/deadline.h"

namespace tutti::os {

Time now();

std::chrono::system_clock::time_point wall_now();  // for people; it may jump

}  // namespace tutti::os

// The steady clock of the machine, the same for all its processes.
#pragma once

#include "base/deadline.h"

namespace tutti::os {

Time now();

}  // namespace tutti::os

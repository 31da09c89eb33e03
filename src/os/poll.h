// Waiting until a descriptor is ready, with a deadline.
#pragma once

#include "base/deadline.h"

namespace tutti::os {

// `events` as poll() has them. True: ready or in failure, which the next call on the descriptor will tell. False: the
// deadline has passed.
bool poll_until(int fd, short events, Deadline deadline);

}  // namespace tutti::os

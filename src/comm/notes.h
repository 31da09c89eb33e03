// What ranks of a communicator leave for each other beside their calls, also after it has ended.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/deadline.h"
#include "comm/side.h"
#include "tutti/status.h"

namespace tutti::comm {

// A few bytes for whoever asks, under a name that means the same to all. They stay until the side is gone.
void offer(Side& side, std::uint64_t name, Bytes bytes);
// Those of another rank, once it has them. Not for communicators of several processes that met through a file or
// socket.
Result<Bytes> obtain(Side& side, Rank rank, std::uint64_t name, Deadline deadline);
// The side is going: nobody asks any more.
void withdraw_offers(const Side& side);

}  // namespace tutti::comm

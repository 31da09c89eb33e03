// Two ranks on different hosts measure the network between them, on a communicator that they have for that alone. So it
// is measured as calls will use it, over all rails, and no call of the program is counted differently for it.
#pragma once

#include "comm/measure.h"
#include "comm/side.h"

namespace tutti::comm {

// Takes `about` that long and moves at most 12 MiB. It takes longer on networks with long ways, of which it needs some
// twenty, and on those that carry less than 64 KiB in that time.
// Rank 0 of the two measures; rank 1 answers until it is told to stop.
Result<NetworkRates> measure_network(Side& probe, std::chrono::nanoseconds about);
Status answer_probe(Side& probe);

}  // namespace tutti::comm

// What two hosts do on one connection to learn how fast it is and how far their clocks are apart.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/deadline.h"
#include "rpc/conduit.h"
#include "tutti/status.h"

namespace tutti::tool::check {

struct PairEffort {
  int pings = 200;                                // at most
  std::chrono::milliseconds ping_time{50};        // at most
  std::chrono::milliseconds bandwidth_time{200};  // of each direction
};

struct PairNumbers {
  double latency_s = 0;          // half of the median time there and back, 8 bytes each way
  double there_bytes_per_s = 0;  // from the one who measures
  double back_bytes_per_s = 0;
  double clock_offset_s = 0;  // of the other's clock over this one's
};

// One side measures, the other answers. After a failure the conduit is of no use.
Result<PairNumbers> measure_pair(rpc::Conduit& conduit, const PairEffort& effort, Deadline deadline);
Status answer_pair(rpc::Conduit& conduit, Deadline deadline);

// How long a pair takes on a good network.
std::chrono::milliseconds time_of(const PairEffort& effort);

}  // namespace tutti::tool::check

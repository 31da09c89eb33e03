// How communicators of the NCCL interface come into being: the parts that starts, splits, shrinks and grows share.
#pragma once

#include <chrono>
#include <string_view>

#include <nccl.h>
#include "nccl/comm.h"
#include "nccl/config.h"
#include "tutti/communicator.h"
#include "tutti/status.h"

namespace tutti::nccl {

struct Place {
  int device = 0;
  int rank = 0;
  int size = 1;
};

struct Starting {
  Place place;
  ncclUniqueId id;
  const ncclConfig_t* config = nullptr;
};

Result<Identifier> identifier_of(const ncclUniqueId& id);
Status validate_place(int rank, int size);
// As the environment wants them.
Result<CommunicatorOptions> standard_options();
// Of the communicators that this thread makes from now on; 0: as the environment says.
void set_start_timeout(std::chrono::nanoseconds timeout);
void set_memory_limit(std::size_t bytes);  // likewise
// Not made yet.
CommRef new_comm(const Place& place, const Config& config);
// Now, or at the end of the group.
ncclResult_t start(std::string_view call, ncclComm_t* handle, const Starting& starting);

}  // namespace tutti::nccl

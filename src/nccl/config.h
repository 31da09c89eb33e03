// What a program asks of a communicator by ncclConfig_t, of whichever version of NCCL the program was built with.
#pragma once

#include <string>

#include <nccl.h>
#include "tutti/status.h"

namespace tutti::nccl {

struct Config {
  bool is_blocking = true;
  bool shares_resources = false;  // of a split with its parent; here parts always share connections
  std::string name = {};
  std::string network = {};
};

// `given` may be nullptr. What is not set there is as in `inherited`.
Result<Config> config_of(const ncclConfig_t* given, const Config& inherited);
// Of a program that gives none, as NCCL_COMM_BLOCKING says.
Result<Config> standard_config();

}  // namespace tutti::nccl

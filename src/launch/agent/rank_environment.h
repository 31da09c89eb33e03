// What a rank finds in its environment beside what the launcher says: its devices and the number of its threads. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/agent/binding.h"
#include "launch/job.h"
#include "tutti/status.h"

namespace tutti::launch {

// The host, as far as environments depend on it.
struct HostEnvironment {
  std::vector<std::string> own = {};  // the agent's: "NAME=value"
  int usable_cores = 1;
  int gpu_count = 0;  // 0: ranks use virtual devices
};

// All variables of a rank: those of the agent where the order wants them, of the order, of the rank, later ones first.
// OMP_NUM_THREADS where nobody has set it; CUDA_VISIBLE_DEVICES where the order divides devices and the rank has no
// own.
Result<std::vector<std::string>> environment_of(const Order& order, const RankOrder& rank, const Binding& binding,
                                                const HostEnvironment& host);

// The devices of a local rank, out of those that `visible` (CUDA_VISIBLE_DEVICES of the host) names, or out of all.
Result<std::string> devices_of(Rank local_rank, int devices_per_rank, int device_count,
                               const std::optional<std::string>& visible);

}  // namespace tutti::launch

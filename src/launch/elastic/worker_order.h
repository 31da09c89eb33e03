// What an agent is told to start for an elastic job: one worker of a world that is only planned. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "launch/elastic/policy.h"
#include "launch/job.h"
#include "launch/settings.h"

namespace tutti::launch {

struct PlannedWorld {
  std::string store = {};                                        // of the job
  std::vector<WorldMember> members = {};                         // by rank, as far as one knows
  std::map<std::string, std::vector<std::uint16_t>> ports = {};  // of hosts that have told theirs
};

// Variables about ranks are those of the planned world, for programs that know nothing of worlds; the others find the
// truth with TUTTI_WORKER, TUTTI_GENERATION and TUTTI_STORE.
Order order_of(const Settings& settings, const PlannedWorld& planned, const StartWorker& start, int host_slots);

}  // namespace tutti::launch

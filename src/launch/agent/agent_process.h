// The process that an agent is: its guard, its signals and its loop.
#pragma once

#include <functional>

#include "launch/agent/agent.h"
#include "launch/agent/agent_line.h"
#include "tutti/status.h"

namespace tutti::launch {

// Forks under a guard, opens the line in the inner process and stays until the agent is over. The guard does not return
// but ends with the code of the inner process. A failure is that of the start.
Status run_agent(AgentSettings settings, const std::function<Result<AgentLine>()>& open);

}  // namespace tutti::launch

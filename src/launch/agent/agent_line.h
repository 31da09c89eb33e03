// The ways in which an agent reaches whoever started it.
#pragma once

#include <memory>

#include "launch/channel.h"
#include "launch/job.h"
#include "tutti/status.h"

namespace tutti::launch {

struct AgentLine {
  std::unique_ptr<Duct> duct;
  Greets greets = Greets::writes;
  HostIndex host = 0;
};

// Over standard input and output. They lead elsewhere from then on, so that nothing else gets into the messages:
// standard input to nothing, standard output to stderr.
Result<AgentLine> take_standard_streams(HostIndex host);

// In a step of Slurm: reads its ticket (start/slurm_ticket.h) from standard input and connects to the launcher.
Result<AgentLine> connect_by_ticket();

}  // namespace tutti::launch

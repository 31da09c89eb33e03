// How the launcher calls `tutti agent`, and what an agent may rely on.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "launch/job.h"

namespace tutti::launch {

// An agent writes kGreeting, then Hello, and stays until its channel ends, whatever it was told before: after Stop it
// answers Gone, which means that nothing of the job runs on its host, and waits for another Begin. It takes the silence
// of the launcher for a cut, but not while its ranks are halted: from Signal{kNoRank, SIGSTOP} to Signal{kNoRank,
// SIGCONT}.
struct AgentCall {
  std::string path = "tutti";
  HostIndex host = 0;
  int ports = 0;  // how many free ports it looks for
  std::chrono::seconds silence{30};
};

// `tutti agent --host 3 --ports 5 --silence 30`
std::vector<std::string> agent_words(const AgentCall& call);

// Of one step of Slurm for all hosts: `tutti agent --connect --ports 5 --silence 30`. Each of them reads one line from
// its standard input, see slurm_ticket.h, which also says which host it is.
std::vector<std::string> connecting_agent_words(const AgentCall& call);

}  // namespace tutti::launch

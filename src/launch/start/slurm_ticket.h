// The line that agents of a Slurm step read from their standard input: where the launcher is, the secret of the job,
// and which host has which place. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/world.h"
#include "launch/job.h"
#include "rpc/secret.h"
#include "tutti/status.h"

namespace tutti::launch {

struct SlurmTicket {
  Contact launcher;  // "10.0.0.1:4000", the best first
  rpc::Secret secret;
  bool is_encrypted = false;
  std::vector<std::string> nodes;  // by HostIndex, as SLURMD_NODENAME calls them
};

std::string text_of(const SlurmTicket& ticket);  // with the end of the line
Result<SlurmTicket> parse_slurm_ticket(std::string_view line);
// The agent's place in the job, by SLURMD_NODENAME.
Result<HostIndex> place_of(const SlurmTicket& ticket, std::string_view node);

// What an agent announces when it connects: its place, as text.
std::string announcement_of(HostIndex host);
Result<HostIndex> parse_announcement(std::string_view announcement);

}  // namespace tutti::launch

// Chooses how ranks on several hosts run a call: over the network in one flow or in rails, inside hosts through stages,
// buffers or pipes. Pure, and cheap enough to be asked at the first call of every size.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/local.h"

namespace tutti::planner {

// What the ranks agreed on at their start. Hosts count as equal, but for their numbers of ranks.
struct Cluster {
  LocalMachine machine;                // of one host; `ranks` there does not matter
  std::vector<std::uint32_t> host_of;  // per rank
  double network_latency_s = 30e-6;    // one way, a small message
  double network_bytes_per_s = 1e9;    // of a host, each way, all its rails together
  double network_message_s = 4e-6;     // of a core, to hand over a message or to take one
  double socket_bytes_per_s = 8e9;     // of a core, into a socket or out of it
  std::uint64_t tile_bytes_max = 256 << 10;

  Rank ranks() const { return static_cast<Rank>(host_of.size()); }
};

// `local_reach`: what ranks of one host may do with each other's buffers. The best first; lanes and tiles are part of a
// candidate. All ranks have to ask with the same reach: what is known inside one host alone comes in by twin_of().
// Where elements are rounded between hosts, only those plans of an all_reduce are candidates that give all ranks the
// same bits.
std::vector<Candidate> rank_hosts(const Cluster& cluster, const Request& request, plan::Reach local_reach);

// The same plan in the form for another reach inside hosts (stage: through stages, full: into buffers). Both forms have
// the same messages between hosts and the same tiles, so every host may run the one that it can. Nothing where the plan
// knows no hosts or has no such form.
std::optional<Candidate> twin_of(const Candidate& candidate, plan::Reach local_reach);

// A sentence and a table: what was chosen, against what.
std::string explain_hosts(const Cluster& cluster, const Request& request, const std::vector<Candidate>& ranked);

}  // namespace tutti::planner

// Chooses how ranks of one machine run a call: through each other's memory, through staging areas, by pulling, or
// through pipes. Pure, and cheap enough to be asked at the first call of every size: programs are read, not simulated.
#pragma once

#include <string>
#include <vector>

#include "tutti/planner.h"

namespace tutti::planner {

// What the ranks agreed on at their start: found out or measured by one of them.
struct LocalMachine {
  Rank ranks = 1;
  int cores = 1;
  bool can_pull = false;
  double load_bytes_per_s = 20e9;   // of one core, from memory that another core wrote
  double store_bytes_per_s = 20e9;  // of one core
  double move_bytes_per_s = 8e9;    // lines that another core has written or read since
  double pull_bytes_per_s = 5e9;
  double pull_s = 0.5e-6;     // per pulled piece
  double signal_s = 0.15e-6;  // until another core sees a word
  double message_s = 0.2e-6;  // a value through a pipe, beside its bytes
  double switch_s = 1e-6;     // until another rank runs on the same core
  double step_s = 30e-9;
  std::uint64_t flash_bytes = 0;   // staged data up to this size comes with its signal
  std::uint64_t outbox_bytes = 0;  // what a rank can stage at a time
};

// `reach`: what ranks may do with each other's buffers this time. The best first.
std::vector<Candidate> rank_local(const LocalMachine& machine, const Request& request, plan::Reach reach);

// A sentence and a table: what was chosen, against what.
std::string explain_local(const LocalMachine& machine, const Request& request, const std::vector<Candidate>& ranked);

}  // namespace tutti::planner

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
  double move_bytes_per_s = 30e9;   // lines that another core has written or read since
  double pull_bytes_per_s = 5e9;    // that the kernel copies between two processes, either way
  double pull_s = 0.3e-6;           // per piece of them
  double signal_s = 0.15e-6;        // until another core sees a word
  double message_s = 0.2e-6;        // a value through a pipe, beside its bytes
  double switch_s = 1e-6;           // until another rank runs on the same core
  double step_s = 30e-9;
  // Beside the above, for callers' buffers that no cache holds, and for what the kernel copies of buffers so large that
  // the pages too have to be looked up in memory. Not measured at the start: fitted to copies on one machine, 2 cores
  // of a virtual Xeon, as move_bytes_per_s, pull_s and the factors in local.cc are.
  double memory_bytes_per_s = 35e9;
  double far_pull_bytes_per_s = 16e9;
  std::uint64_t cache_bytes = 2 << 20;  // of one core
  std::uint64_t far_bytes = 64 << 20;   // of all ranks together
  std::uint64_t flash_bytes = 0;        // staged data up to this size comes with its signal
  std::uint64_t outbox_bytes = 0;       // what a rank can stage at a time
};

// What ranks may do with each other's buffers this time, and how: with loads and stores where they have all of them
// mapped, otherwise by asking the kernel to copy.
struct Access {
  Access(plan::Reach all) : Access(all, all == plan::Reach::full) {}  // NOLINT: a reach alone says it in most cases
  Access(plan::Reach some, bool mapped) : reach(some), is_mapped(mapped) {}
  plan::Reach reach;
  bool is_mapped;
};

// The best first. A request in place is for plans that are right in place too; what a rank copies to its own output
// counts all the same, because most calls that run them are not.
std::vector<Candidate> rank_local(const LocalMachine& machine, const Request& request, const Access& access);

// A sentence and a table: what was chosen, against what.
std::string explain_local(const LocalMachine& machine, const Request& request, const std::vector<Candidate>& ranked);

}  // namespace tutti::planner

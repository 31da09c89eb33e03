// Who takes part in bench/compare, in which settings, and how each is started.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/comparison/processes.h"
#include "bench/peers/measure.h"

namespace tutti::bench {

inline constexpr std::string_view kTuttiMalloc = "tutti";
inline constexpr std::string_view kTuttiAllocated = "tutti-allocated";
inline constexpr std::string_view kBound = "bound";

// A library in one of its settings.
struct Contender {
  std::string name;                        // "openmpi-ucx-m"
  std::string library;                     // "openmpi": the program is bench_peer_openmpi
  std::vector<std::string> launcher = {};  // arguments for mpirun
  std::map<std::string, std::string> environment = {};
  std::vector<std::string> arguments = {};  // for the program
  std::vector<Rank> ranks = {};             // where it takes part; empty: everywhere
  bool is_thorough = false;                 // only under --thorough
  bool is_for_all_reduce = false;           // elsewhere it is the same as another
  std::string congestion_control = {};      // of TCP between hosts; empty: as the machine has it
  std::uint64_t bytes_max = UINT64_MAX;     // larger calls are known to hang

  bool is_peer() const { return library != "tutti" && library != "bound"; }
};

std::vector<Contender> all_contenders();

// Those that take part in this collective with so many ranks.
std::vector<Contender> contenders_for(const std::vector<Contender>& contenders, Rank ranks,
                                      plan::Collective collective);

// The processes of one run. The programs lie in `folder`; `store` is a path that exists only for this run.
std::vector<Command> commands_of(const Contender& contender, const Request& request, const std::string& folder,
                                 const std::string& store);

}  // namespace tutti::bench

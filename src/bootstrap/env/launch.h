// Where this process stands in its job, by what its launcher has put into the environment.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tutti/status.h"
#include "tutti/types.h"

namespace tutti::bootstrap {

struct Launch {
  std::string launcher = {};  // "Open MPI's mpirun", "MPICH's mpirun", "srun", "torchrun", "tutti run", ...
  Rank rank = 0;
  Rank size = 1;
  // Among the processes of this host. Where the launcher has not told, has_local_place is false until
  // find_local_place() has asked the others, and these stand for a process alone on its host.
  Rank local_rank = 0;
  Rank local_size = 1;
  bool has_local_place = false;

  // How its processes can meet, for open_launched_store(). Empty, false and negative: not that way.
  std::string store = {};    // an address that somebody has set on purpose, TUTTI_STORE
  std::string job = {};      // the same in all processes of the job and in no other job of this user on this host
  int pmi_descriptor = -1;   // a socket to a launcher that speaks PMI-1
  bool has_pmix = false;     // a launcher that serves PMIx
  std::string address = {};  // "host:port" on rank 0's host, at which nobody else of the job listens

  bool is_on_one_host() const { return has_local_place && local_size == size; }
};

// The value of a variable; an empty one counts as none, as shells write `NAME= command`.
using Lookup = std::function<std::optional<std::string>(std::string_view name)>;

// nullopt: started alone. Fails where a launcher's variables are half set or make no sense, and where two launchers
// disagree about rank or size, but for launchers that start others (docs/guide/launchers.md has the rule).
Result<std::optional<Launch>> launch_of(const Lookup& environment);

}  // namespace tutti::bootstrap

// Which cores each rank of a host runs on. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "launch/job.h"
#include "os/cpu_places.h"

namespace tutti::launch {

struct Binding {
  std::vector<int> cpus = {};  // empty: it is not bound
  int core_count = 0;          // its share of their cores, for its threads
  std::string text = {};       // "cores 0-3", "socket 1, cores 8-15 (threads 8-15,24-31)"
  bool operator==(const Binding&) const = default;
};

struct Bindings {
  std::vector<Binding> by_local_rank = {};
  std::string note = {};  // why nobody is bound though the policy says so; empty: all is as wished
};

// `core`: each rank has its own cores, as many as the next and neighbours of each other. `numa`, `socket`: each has all
// cores of one, and ranks share one where there are more ranks. More ranks than cores are not bound.
Bindings bind_ranks(std::span<const os::CpuPlace> places, Rank local_size, BindPolicy policy);

}  // namespace tutti::launch

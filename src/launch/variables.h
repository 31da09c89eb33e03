// What the environment of a rank says about its place, in the words of every framework. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "launch/job.h"
#include "launch/layout.h"

namespace tutti::launch {

// What the agent of a host has told about it.
struct HostFacts {
  std::string address = {};               // by which the other hosts reach it: a name or a number
  std::vector<std::uint16_t> ports = {};  // one for each of its ranks, and one more on the first host
};

struct WorldFacts {
  std::string job = {};               // its name
  std::string store = {};             // where its ranks meet: TUTTI_STORE
  std::vector<HostFacts> hosts = {};  // by HostIndex
  int generation = 0;                 // of an elastic world, from 0
  int restart = 0;                    // how often the whole job was started again
  int restarts_max = 0;
};

// TUTTI_*, RANK and WORLD_SIZE and so on, HOROVOD_*, OMPI_COMM_WORLD_*, PMI_*, TF_CONFIG. `user` are variables that the
// user has set for the job, which win.
Variables variables_of(const Layout& layout, const WorldFacts& facts, const Seat& seat, const Variables& user);

}  // namespace tutti::launch

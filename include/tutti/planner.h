// Chooses the plan for a call on a machine, and says why. Pure: the same facts give the same choice on every rank.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tutti/plan.h"
#include "tutti/simulate.h"
#include "tutti/topology.h"

namespace tutti::planner {

// A topology as the simulator sees it: ranks are its devices, host by host.
std::unique_ptr<plan::Model> create_model(const topology::Topology& topology);

struct Request {
  plan::Collective collective = plan::Collective::all_reduce;
  std::uint64_t elements = 0;  // per block, as plan::even_maps counts them
  std::uint32_t element_bytes = 4;
  Rank root = 0;
  Rank peer = 0;
  bool in_place = false;
  // Of an element on its way between the hosts of a communicator, where it is rounded for it; 0: it travels as it is.
  std::uint32_t wire_element_bytes = 0;
  std::optional<plan::Reach> reach = {};  // what ranks of one host may do; unless given, as the topology says
};

// One way to run a request.
struct Candidate {
  const plan::Algorithm* algorithm = nullptr;
  plan::Shape shape;
  std::uint64_t tile_bytes = 0;
  double estimate_s = 0;
};

struct Choice {
  Candidate best;
  std::vector<Candidate> others;  // the next best first, each with its estimate
  std::string why;                // one sentence
};

// Every way to run the request that choose() considers; estimates are zero.
std::vector<Candidate> candidates(const topology::Topology& topology, const Request& request);

Result<Choice> choose(const topology::Topology& topology, const Request& request);

}  // namespace tutti::planner

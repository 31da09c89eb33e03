// A job before anything of it runs: which hosts, which ranks where, what each process is given.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tutti/types.h"

namespace tutti::launch {

// The place of a host in a job, from 0. Messages between the launcher and its agents name hosts by it.
using HostIndex = std::uint32_t;

struct Host {
  std::string name;   // as ssh takes it: "gpu12", "user@10.0.0.1"
  int slots = 1;      // how many ranks it takes
  int slots_max = 0;  // how many at most, where more ranks than slots are allowed; 0: any number
  bool operator==(const Host&) const = default;
};

// Where a rank runs.
struct Seat {
  Rank rank = 0;
  HostIndex host = 0;
  Rank local_rank = 0;  // among the ranks of the host
  bool operator==(const Seat&) const = default;
};

using Variables = std::vector<std::pair<std::string, std::string>>;  // of an environment, in order, names once

enum class BindPolicy : std::uint8_t { none, core, numa, socket };
enum class InputPolicy : std::uint8_t { none, first, all };  // who reads what the launcher is given to read

// One rank, as its agent is told to start it.
struct RankOrder {
  Rank rank = 0;
  Rank local_rank = 0;
  Variables variables = {};  // its own, on top of those of the order
  bool operator==(const RankOrder&) const = default;
};

// What an agent starts. Several may come one after the other: worlds that grow.
struct Order {
  std::vector<std::string> command = {};  // the program, found in PATH of `environment`, and its arguments
  std::string folder = {};                // where ranks start; empty: where the agent is
  bool must_have_folder = true;           // false: where there is no such folder, ranks start where the agent is
  Variables environment = {};             // of every rank
  bool inherits_environment = false;      // whether that comes on top of the agent's own or instead of it
  Rank local_size = 0;                    // ranks of this host once all have started
  BindPolicy bind = BindPolicy::none;
  int devices_per_rank = 0;  // > 0: CUDA_VISIBLE_DEVICES of a rank names that many, by its local rank
  InputPolicy input = InputPolicy::none;
  std::vector<RankOrder> ranks = {};
  bool operator==(const Order&) const = default;
};

}  // namespace tutti::launch

// The options that the plan commands share, and what they stand for.
#pragma once

#include <string>
#include <vector>

#include "tools/tutti/command.h"
#include "tutti/plan.h"
#include "tutti/planner.h"

namespace tutti::tool {

// Names an algorithm and the shape to build it in.
struct ShapeOptions {
  std::string collective = "all_reduce";
  std::string algorithm;
  Rank ranks = 4;
  std::uint32_t lanes = 1;
  Rank root = 0;
  Rank peer = 1;
  std::string hosts;  // "4,4,2": ranks on each host
  std::string reach = "none";
  bool in_place = false;
};
void add_shape_options(CLI::App& command, ShapeOptions& options);
Result<plan::Shape> shape_of(const ShapeOptions& options);
Result<plan::Plan> build_plan(const ShapeOptions& options);

// Names a machine and a call on it.
struct CallOptions {
  std::string topology;
  std::string collective = "all_reduce";
  std::uint64_t bytes = 64 << 20;
  std::string type = "float32";
  Rank root = 0;
  Rank peer = 1;
  std::string reach;  // empty: as the topology says
  bool in_place = false;
};
void add_call_options(CLI::App& command, CallOptions& options);
std::string describe(const CallOptions& options);  // "all_reduce of 64 MiB"
Result<planner::Request> request_of(const CallOptions& options, const topology::Topology& topology);

// The plan in a file; errors name the file.
Result<plan::Plan> read_plan(const std::string& path);

std::vector<std::string> collective_names();
std::vector<std::string> algorithm_names();
std::vector<std::string> reach_names();
Result<const plan::Algorithm*> find_algorithm(const std::string& name, plan::Collective collective);

Result<std::string> read_text(const std::string& path);
Status write_text(const std::string& path, std::string_view text);
// Print the sentence of a failure. The command was called wrongly, or it was called well and says no.
int refuse(const Status& status);
int fail(const Status& status);

}  // namespace tutti::tool

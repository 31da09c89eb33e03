// The options of `tutti run` as they are written on a command line. horovodrun and torchrun fill in the same.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tutti::tool {

struct RunOptions {
  // how many ranks, and where
  int ranks = 0;
  int ranks_per_host = 0;
  int host_count = 0;
  std::string hosts = {};
  std::string host_file = {};
  bool may_oversubscribe = false;
  // how hosts are reached
  std::string launcher = "auto";
  std::string agent_path = {};
  int ssh_port = 0;
  std::string ssh_identity = {};
  std::vector<std::string> ssh_options = {};
  std::string jump = {};
  int tree_width = 16;
  std::vector<std::string> srun_options = {};
  // what a rank is given
  std::string bind = "none";
  bool reports_bindings = false;
  int devices_per_rank = 0;
  std::vector<std::string> environment = {};
  std::string environment_file = {};
  bool forwards_nothing = false;
  std::string folder = {};
  bool preloads_nccl = false;
  std::string interfaces = {};
  std::string input = "first";
  // what becomes of its output
  std::string tag = "rank";
  bool has_open_mpi_tags = false;
  std::string colour = "auto";
  bool has_timestamps = false;
  std::string output = {};
  bool also_prints = false;
  std::string only = {};
  // how long, and how it ends
  double grace_s = 5;
  double timeout_s = 0;  // 0: none
  double start_timeout_s = 60;
  double silence_s = 30;
  int restarts = 0;
  // ranks that come and go
  int ranks_min = 0;
  int ranks_max = 0;
  std::string discovery_script = {};
  int slots_per_host = 0;
  double elastic_timeout_s = 600;
  std::vector<int> cooldown_s = {};

  bool is_dry = false;
  int verbosity = 0;
  std::string name = {};
  // what is not an option of `tutti run`
  std::vector<std::string> program = {};
  bool has_horovod_files = false;  // rank.3/stdout below --output
  bool needs_hosts = false;        // of torchrun: several hosts were asked for
  bool names_another = false;      // --torchrun or --horovodrun, behind other options
};

void add_run_options(CLI::App& command, RunOptions& options);

// An option that takes a time: "30", "1.5s", "200ms".
CLI::Option* add_seconds(CLI::App& command, const std::string& flag, double& seconds, const std::string& help);
// An option that is given once for each of its values.
CLI::Option* add_list(CLI::App& command, const std::string& flag, std::vector<std::string>& list,
                      const std::string& help);

// The words from the first that is no option of the command: the program and its arguments, which are taken away from
// `arguments`. Long options with one dash, as mpirun and horovodrun have them (-np), get the second on the way.
std::vector<std::string> take_program(const CLI::App& command, std::vector<std::string>& arguments,
                                      std::size_t first = 0);

}  // namespace tutti::tool

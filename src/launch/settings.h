// Everything that a user can decide about a job, checked and complete: what the launcher is given.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/job.h"
#include "launch/layout.h"
#include "launch/output/printer.h"

namespace tutti::launch {

enum class Starter : std::uint8_t { local, ssh, slurm };

struct SshSettings {
  std::string program = "ssh";
  std::optional<std::uint16_t> port = {};
  std::string identity = {};              // a file
  std::string jump = {};                  // a bastion: ssh -J
  std::vector<std::string> options = {};  // as after ssh -o
  int tree_width = 16;                    // how many hosts one host starts; 0: the launcher starts all
};

struct SlurmSettings {
  std::string program = "srun";
  std::vector<std::string> options = {};  // more words for srun
};

struct ElasticSettings {
  Rank ranks_min = 0;  // 0: the job is not elastic
  Rank ranks_max = 0;
  std::vector<Host> hosts = {};                           // that the user has named, those without ranks too
  std::string discovery_script = {};                      // or who names them
  int slots_per_host = 1;                                 // for hosts that the script names without
  std::chrono::seconds wait{600};                         // for enough slots
  std::chrono::seconds cooldown_min{0}, cooldown_max{0};  // of a host that failed; 0: it stays out for good
};

struct Settings {
  std::string job = {};  // its name for people: "k3f9"
  std::vector<std::string> command = {};
  std::string folder = {};  // where ranks start; empty: where the launcher is, or the home folder where that is missing
  Starter starter = Starter::local;
  Layout layout = {};
  SshSettings ssh = {};
  SlurmSettings slurm = {};
  std::string agent = {};      // the path of `tutti` on the hosts
  Variables environment = {};  // of every rank
  bool inherits_environment = false;
  BindPolicy bind = BindPolicy::none;
  bool reports_bindings = false;
  int devices_per_rank = 0;
  InputPolicy input = InputPolicy::first;
  OutputSettings output = {};
  std::chrono::milliseconds grace{5000};             // between SIGTERM and SIGKILL
  std::optional<std::chrono::seconds> timeout = {};  // of the whole job
  std::chrono::seconds start_timeout{60};            // until every host has answered
  std::chrono::seconds silence{30};                  // after which a host counts as cut off
  int restarts = 0;                                  // how often the whole job may be started again after a failure
  ElasticSettings elastic = {};
  int verbosity = 0;
};

}  // namespace tutti::launch

// A small Slurm on the hosts of a lab: one munged, a controller, and a daemon on each host, with all their files in a
// folder that ends with it. Nothing of the machine's own Slurm is read or changed.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/network/lab/folder.h"
#include "tests/network/lab/lab.h"
#include "tests/network/lab/launch.h"

namespace tutti::lab {

struct SlurmOptions {
  int host_count = 2;
  std::vector<std::string> partitions = {"all"};  // every one has all hosts; the first is the default
  int gpus_per_host = 0;                          // declared, as processors and memory are; jobs get their numbers
  std::string more = {};                          // lines of slurm.conf
};

// How a job of sbatch has ended, as Slurm tells it.
struct BatchEnding {
  std::string state;   // "COMPLETED", "FAILED", "CANCELLED", "NODE_FAIL", ...
  int exit_code = -1;  // of its script
};

// The controller is on the first host, which takes jobs too.
class Slurm {
 public:
  static Status is_possible();  // why this machine has none: a package or a permission is missing
  static Result<std::unique_ptr<Slurm>> create(const SlurmOptions& options);
  Slurm(const Slurm&) = delete;
  Slurm& operator=(const Slurm&) = delete;
  ~Slurm();

  Lab& lab() { return lab_; }
  const Folder& folder() const { return folder_; }  // every host sees it
  // Its folder "bin" is the first in PATH: whoever uses this puts there what jobs shall find.
  Environment environment() const;

  // On the first host: srun, salloc, sbatch, or whatever else a user types there.
  Ending run(const Words& words, const std::string& last_words = "") const;
  Result<Process> start(const Words& words) const;

  // The number of a job whose script this is. It starts in the folder above, where its output is found then.
  Result<int> submit(const std::string& script, const Words& options = {}) const;
  // Nothing: it has not ended within the limit.
  std::optional<BatchEnding> await(int job, std::chrono::nanoseconds limit) const;

  // As if it lost its power: the daemon and what jobs run there end, and nobody is told.
  Status power_off(int host);
  Status power_on(int host);
  // Until every host has no job and takes new ones.
  Status await_idle(std::chrono::nanoseconds limit) const;
  // What runs on the hosts besides the daemons: processes of jobs and commands of users.
  std::vector<pid_t> job_processes() const;
  std::string daemon_output() const;

 private:
  Slurm(Lab lab, Folder folder, SlurmOptions options)
      : lab_(std::move(lab)), folder_(std::move(folder)), options_(std::move(options)) {}

  struct Daemon {
    std::string name;
    int host;  // of the lab, or kNowhere
    Process process;
  };

  Status write_files() const;
  std::string configuration() const;
  Status make_gpus() const;
  Status start_daemon(const std::string& name, int host, const Words& words);
  Status start_daemons();

  Lab lab_;
  Folder folder_;
  SlurmOptions options_;
  std::vector<std::unique_ptr<Daemon>> daemons_;
};

}  // namespace tutti::lab

// A real sshd on every host of a lab: `ssh host1` works on each of them without a password and without an option, as it
// does on a cluster. Keys and settings are in a folder that ends with it; those of the machine are not seen there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/network/lab/folder.h"
#include "tests/network/lab/lab.h"
#include "tests/network/lab/launch.h"

namespace tutti::lab {

// Hosts share all files but for /run and /dev/shm, of which each has its own, empty at first but for what sshd needs.
class SshLab {
 public:
  static Status is_possible();  // why this machine has none: a package or a permission is missing
  static Result<std::unique_ptr<SshLab>> create(int host_count);
  SshLab(const SshLab&) = delete;
  SshLab& operator=(const SshLab&) = delete;
  ~SshLab();

  Lab& lab() { return lab_; }
  const Folder& folder() const { return folder_; }
  // A key that no host lets in, for ssh -i.
  std::string foreign_key() const { return folder_.file("foreign_key"); }

  // On the first host. It stands in the folder above.
  Ending run(const Words& words, const Environment& environment = {}) const;
  Result<Process> start(int host, const Words& words, const Environment& environment = {}) const;

  // From now on nobody listens at the host's port; who is there stays.
  void stop_daemon(int host);
  Status start_daemon(int host);
  // Whether the host lets the key of the others in.
  Status set_welcome(int host, bool is_welcome) const;
  // As if it lost its power: everything there ends, and nobody is told.
  Status power_off(int host);
  Status power_on(int host);
  // What runs on the hosts besides sshd: programs of users and what these have left. An sshd whose client was cut off
  // waits for it for hours, and no program of the session can do anything about it.
  std::vector<pid_t> user_processes() const;
  // Whether all of that ends within the limit by itself.
  bool is_quiet(std::chrono::nanoseconds limit) const;
  std::string daemon_output(int host) const;

 private:
  SshLab(Lab lab, Folder folder) : lab_(std::move(lab)), folder_(std::move(folder)) {}

  Status write_files() const;
  Status make_key(const std::string& name) const;
  Status set_up_host(int host) const;
  Status await_daemon(int host) const;

  Lab lab_;
  Folder folder_;
  std::vector<std::unique_ptr<Process>> daemons_;  // by host; nullptr: none
};

}  // namespace tutti::lab

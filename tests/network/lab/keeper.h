// A process that only holds the namespaces of one virtual host. It ends with its maker, and takes all that runs on the
// host with it.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "tutti/status.h"

namespace tutti::lab {

// What a host calls itself and whom it knows.
struct Identity {
  std::string name;   // its host name
  std::string hosts;  // its /etc/hosts; empty: that of the machine
};

// A network, a host name, System V memory, /dev/shm, a view of /sys and a boot id of its own. Files, processes and the
// clock are those of the machine.
class Keeper {
 public:
  static Result<Keeper> create(const Identity& identity);
  Keeper(Keeper&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  Keeper& operator=(Keeper&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~Keeper();

  pid_t pid() const { return pid_; }

 private:
  explicit Keeper(pid_t pid) : pid_(pid) {}
  pid_t pid_ = 0;
};

// What runs on the host of this keeper, whoever started it, without the keeper.
std::vector<pid_t> processes_on(pid_t keeper);

void kill_all_on(pid_t keeper);

// Moves the calling process, which must have one thread, to the host that this process keeps. It stays in its folder.
Status enter_host(pid_t keeper);

}  // namespace tutti::lab

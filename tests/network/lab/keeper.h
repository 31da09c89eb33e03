// A process that only holds the namespaces of one virtual host: when it ends, and it ends with its maker, so do they.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

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

// Moves the calling process, which must have one thread, to the host that this process keeps. It stays in its folder.
Status enter_host(pid_t keeper);

}  // namespace tutti::lab

#include "transport/shm/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace tutti::transport {

Process::Process(const device::Heap& own, std::string host)
    : pid_(getpid()),
      host_(std::move(host)),
      is_self_(true),
      can_pull_(true),
      heap_(own.base()),
      heap_bytes_(own.limit_bytes()) {}

Process::Process(pid_t pid, std::string host, os::Segment heap, bool can_pull)
    : pid_(pid),
      host_(std::move(host)),
      is_self_(false),
      can_pull_(can_pull),
      mapping_(std::move(heap)),
      heap_(mapping_.data()),
      heap_bytes_(mapping_.size()) {}

bool Process::is_alive() const {
  if (is_self_) return true;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  // A kernel that does not answer has not said that the process is dead.
  return fcntl(mapping_.fd(), F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

}  // namespace tutti::transport

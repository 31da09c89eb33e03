// Another process of this machine, or this one, with its shared heap mapped here.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "device/host/heap.h"
#include "os/segment.h"

namespace tutti::transport {

class Process {
 public:
  Process(const device::Heap& own, std::string host);
  Process(pid_t pid, std::string host, os::Segment heap, bool can_pull);

  pid_t pid() const { return pid_; }
  const std::string& host() const { return host_; }
  bool is_self() const { return is_self_; }
  std::byte* heap() const { return heap_; }
  std::size_t heap_bytes() const { return heap_bytes_; }
  // Its memory may be read and written with os::read_memory and write_memory: found out when it was met.
  bool can_pull() const { return can_pull_; }
  // By the record lock on its heap, which the kernel drops when the process ends, also while it is a zombie.
  bool is_alive() const;

 private:
  pid_t pid_;
  std::string host_;
  bool is_self_;
  bool can_pull_;
  os::Segment mapping_;  // empty for this process
  std::byte* heap_;
  std::size_t heap_bytes_;
};

}  // namespace tutti::transport

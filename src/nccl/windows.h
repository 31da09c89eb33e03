// Windows: memory of a rank that others of its communicator may be told about.
#pragma once

#include <cstddef>

#include "nccl/comm.h"

namespace tutti::nccl {

struct Window {
  void* buffer = nullptr;
  std::size_t bytes = 0;
  int flags = 0;
  std::uint64_t number = 0;  // the how-manieth of its communicator; the same on every rank
};

}  // namespace tutti::nccl

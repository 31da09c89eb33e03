// Copies and fills, at once or in the order of a stream.
#pragma once

#include <cstddef>

#include "cudart/outcome.h"

namespace tutti::cudart {

enum class When : bool { now, in_order };  // now: as the calls without Async

// Rows from source to target. For plain memory one row, whose pitches do not matter.
struct Copy {
  void* target = nullptr;
  std::size_t target_pitch = 0;
  const void* source = nullptr;
  std::size_t source_pitch = 0;
  std::size_t width = 0;
  std::size_t height = 1;
};

Outcome copy(const Copy& what, cudaMemcpyKind kind, cudaStream_t stream, When when);

struct Peer {
  int target_device = 0;
  int source_device = 0;
};
Outcome copy_between(const Copy& what, Peer peer, cudaStream_t stream, When when);

struct Fill {
  void* target = nullptr;
  std::size_t pitch = 0;
  int value = 0;  // its lowest byte
  std::size_t width = 0;
  std::size_t height = 1;
};

Outcome fill(const Fill& what, cudaStream_t stream, When when);

}  // namespace tutti::cudart

// Calls that the interface must refuse.
#pragma once

#include <nccl.h>  // and the CUDA runtime

#include <cstddef>
#include <string>

#include "tests/nccl_programs/program.h"

namespace tutti::programs {

// Where a wrong call is made: what is right about it.
struct Scene {
  ncclComm_t comm = nullptr;
  int rank = 0;
  int size = 1;
  int device = 0;
  cudaStream_t stream = nullptr;
  std::byte* memory = nullptr;  // of the device; holds 16 elements of any type
  bool is_grouped = false;      // together with a call that is right, which must not run either
};

// What was wrong about how it was refused; empty: nothing.
std::string attempt(Wrong wrong, const Scene& scene);

}  // namespace tutti::programs

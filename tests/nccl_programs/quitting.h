// One rank aborts a communicator while the others are in a call that needs it: each of them must get an error.
#pragma once

#include <nccl.h>

#include <string>
#include <vector>

namespace tutti::programs {

// A rank that this thread plays.
struct Quitter {
  ncclComm_t comm = nullptr;
  int device = 0;
  bool aborts = false;  // the others are left with a call that cannot end
};

// Whatever was called before has ended here. What went wrong; empty: nothing did. The communicators are gone then.
std::string quit(const std::vector<Quitter>& quitters);

}  // namespace tutti::programs

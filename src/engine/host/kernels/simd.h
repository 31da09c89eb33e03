// The kernels written with Google Highway, compiled for several instruction sets and chosen at run time.
#pragma once

#include <vector>

#include "engine/host/kernels/kernels.h"

namespace tutti::engine {

std::vector<KernelSet> find_simd_kernels();  // those that this machine can run, best first; none without Highway

}  // namespace tutti::engine

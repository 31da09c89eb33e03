// The kernels in plain C++: what runs where there is no Highway, and what Highway has no instructions for.
#pragma once

#include "engine/host/kernels/kernels.h"

namespace tutti::engine {

Kernel portable_kernel_of(DataType type, Op op);
void portable_copy(const std::byte* source, std::span<std::byte* const> targets, std::size_t bytes, bool streaming);
Conversion portable_conversion_of(DataType type);

}  // namespace tutti::engine

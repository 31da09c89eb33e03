// Ranges of memory that programs name.
#pragma once

#include <cstddef>

#include "nccl/comm.h"
#include "tutti/status.h"

namespace tutti::nccl {

Status validate_range(const void* buffer, std::size_t bytes);

}  // namespace tutti::nccl

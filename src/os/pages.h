// Memory of this process alone that costs nothing until it is used.
#pragma once

#include <cstddef>
#include <memory>

#include "tutti/status.h"

namespace tutti::os {

// Zero, aligned to pages; the kernel gives each page when it is first touched. Never empty.
Result<std::shared_ptr<std::byte>> map_zero_pages(std::size_t bytes);

}  // namespace tutti::os

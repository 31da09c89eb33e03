// Memory for a rank's side, zero: of the process alone, or of its heap, where other processes find it.
#pragma once

#include <cstddef>
#include <memory>

#include "tutti/status.h"

namespace tutti::comm {

// shared: by the side and, after it, by those who bury it.
Result<std::shared_ptr<std::byte>> make_private_room(std::size_t bytes);
Result<std::shared_ptr<std::byte>> make_shared_room(std::size_t bytes);

}  // namespace tutti::comm

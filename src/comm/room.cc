#include "comm/room.h"

#include "os/pages.h"
#include "tutti/memory.h"

namespace tutti::comm {

Result<std::shared_ptr<std::byte>> make_private_room(std::size_t bytes) {
  auto pages = os::map_zero_pages(bytes);
  if (!pages) return pages.status().while_doing("making a rank of the communicator");
  return pages;
}

Result<std::shared_ptr<std::byte>> make_shared_room(std::size_t bytes) {
  TUTTI_ASSIGN(Memory memory, allocate(bytes));
  const auto owner = std::make_shared<Memory>(std::move(memory));
  return std::shared_ptr<std::byte>(owner, owner->data());
}

}  // namespace tutti::comm

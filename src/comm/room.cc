#include "comm/room.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "tutti/memory.h"

namespace tutti::comm {

namespace {

constexpr std::size_t kPage = 4096;

}  // namespace

Result<std::shared_ptr<std::byte>> make_private_room(std::size_t bytes) {
  const std::size_t rounded = (bytes + kPage - 1) / kPage * kPage;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kPage, rounded));
  if (memory == nullptr) {
    return Status(Code::out_of_memory, fmt::format("a rank of the communicator needs {} bytes", rounded));
  }
  std::memset(memory, 0, rounded);
  return std::shared_ptr<std::byte>(memory, [](std::byte* owned) { std::free(owned); });
}

Result<std::shared_ptr<std::byte>> make_shared_room(std::size_t bytes) {
  TUTTI_ASSIGN(Memory memory, allocate(bytes));
  const auto owner = std::make_shared<Memory>(std::move(memory));
  return std::shared_ptr<std::byte>(owner, owner->data());
}

}  // namespace tutti::comm

#include "os/pages.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>

#include "os/error_text.h"

namespace tutti::os {

Result<std::shared_ptr<std::byte>> map_zero_pages(std::size_t bytes) {
  void* const mapped =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return Status(Code::out_of_memory, fmt::format("cannot map {} bytes of memory: {}", bytes, error_text(errno)));
  return std::shared_ptr<std::byte>(static_cast<std::byte*>(mapped),
                                    [bytes](std::byte* owned) { ::munmap(owned, bytes); });
}

}  // namespace tutti::os

#include "os/small_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "os/file_descriptor.h"

namespace tutti::os {

std::optional<std::string> read_small_file(const std::string& path) {
  constexpr std::size_t kBytesMax = 65536;
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::nullopt;
  std::string text(kBytesMax, '\0');
  std::size_t size = 0;
  while (size < kBytesMax) {
    const ssize_t got = read(file.get(), text.data() + size, kBytesMax - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > 0 && text[size - 1] == '\n') --size;
  text.resize(size);
  return text;
}

}  // namespace tutti::os

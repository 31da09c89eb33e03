#include "os/entropy.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>

#include "os/error_text.h"

namespace tutti::os {

Status fill_random(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      return {
          Code::unsupported,
          fmt::format("the kernel gives no random bytes: {}; getrandom needs Linux 3.17 or newer", error_text(errno))};
    }
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace tutti::os

#include "os/remote_memory.h"

#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "os/error_text.h"

namespace tutti::os {

namespace {

Status failure(pid_t pid, std::size_t bytes, int error) {
  const std::string what = fmt::format("cannot read {} bytes of process {}: {}", bytes, pid, error_text(error));
  if (error == ESRCH) return {Code::peer_lost, what + "; it has ended"};
  if (error == EFAULT) return {Code::invalid_argument, what + "; not all of them are mapped there"};
  return {Code::unsupported, what + "; see ptrace_scope in 'man 5 proc' and the capabilities of the container"};
}

}  // namespace

bool can_read(pid_t pid, const void* address, std::span<const std::byte> expected) {
  std::vector<std::byte> found(expected.size());
  return read_memory(pid, found.data(), address, found.size()).is_ok() && std::ranges::equal(found, expected);
}

Status read_memory(pid_t pid, std::byte* local, const void* remote, std::size_t bytes) {
  const auto* source = static_cast<const std::byte*>(remote);
  std::size_t done = 0;
  while (done < bytes) {
    const iovec to{local + done, bytes - done};
    // The kernel takes what it only reads from as a plain pointer too.
    const iovec from{const_cast<std::byte*>(source + done), bytes - done};  // NOLINT
    const ssize_t got = process_vm_readv(pid, &to, 1, &from, 1, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return failure(pid, bytes - done, got < 0 ? errno : EFAULT);
    done += static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace tutti::os

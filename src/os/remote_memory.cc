#include "os/remote_memory.h"

#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "os/error_text.h"

namespace tutti::os {

namespace {

using Transfer = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

Status failure(const char* verb, pid_t pid, std::size_t bytes, int error) {
  const std::string what = fmt::format("cannot {} {} bytes of process {}: {}", verb, bytes, pid, error_text(error));
  if (error == ESRCH) return {Code::peer_lost, what + "; it has ended"};
  if (error == EFAULT) return {Code::invalid_argument, what + "; not all of them are mapped there"};
  return {Code::unsupported, what + "; see ptrace_scope in 'man 5 proc' and the capabilities of the container"};
}

Status transfer_all(Transfer transfer, const char* verb, pid_t pid, std::byte* local, std::byte* remote,
                    std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const iovec here{local + done, bytes - done};
    const iovec there{remote + done, bytes - done};
    const ssize_t moved = transfer(pid, &here, 1, &there, 1, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return failure(verb, pid, bytes - done, moved < 0 ? errno : EFAULT);
    done += static_cast<std::size_t>(moved);
  }
  return {};
}

}  // namespace

bool can_read(pid_t pid, const void* address, std::span<const std::byte> expected) {
  std::vector<std::byte> found(expected.size());
  return read_memory(pid, found.data(), address, found.size()).is_ok() && std::ranges::equal(found, expected);
}

bool can_write(pid_t pid, void* address, std::span<const std::byte> expected) {
  return can_read(pid, address, expected) && write_memory(pid, address, expected.data(), expected.size()).is_ok();
}

// The kernel takes what it only reads from as a plain pointer too.
Status read_memory(pid_t pid, std::byte* local, const void* remote, std::size_t bytes) {
  auto* const there = static_cast<std::byte*>(const_cast<void*>(remote));  // NOLINT
  return transfer_all(process_vm_readv, "read", pid, local, there, bytes);
}

Status write_memory(pid_t pid, void* remote, const std::byte* local, std::size_t bytes) {
  auto* const here = const_cast<std::byte*>(local);  // NOLINT
  return transfer_all(process_vm_writev, "write", pid, here, static_cast<std::byte*>(remote), bytes);
}

}  // namespace tutti::os

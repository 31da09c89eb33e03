#include "os/segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/assert.h"
#include "os/error_text.h"

namespace tutti::os {

namespace {

// Growing a file beyond this limit would not fail but kill the process with SIGXFSZ.
bool is_within_file_limit(std::size_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

}  // namespace

Result<Segment> Segment::create(std::string_view name, std::size_t bytes) {
  if (bytes == 0) return invalid_argument(fmt::format("the shared segment '{}' has no bytes", name));
  FileDescriptor fd(memfd_create(std::string(name).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.is_open()) {
    return Status(Code::out_of_memory,
                  fmt::format("cannot create the shared segment '{}': {}; it needs memfd_create, which Linux has since "
                              "3.17, and a free file descriptor ('ulimit -n')",
                              name, error_text(errno)));
  }
  if (!is_within_file_limit(bytes)) {
    return Status(Code::out_of_memory, fmt::format("the shared segment '{}' of {} bytes is larger than the limit of "
                                                   "file sizes; raise it with 'ulimit -f unlimited'",
                                                   name, bytes));
  }
  if (ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    return Status(Code::out_of_memory,
                  fmt::format("cannot give the shared segment '{}' {} bytes: {}", name, bytes, error_text(errno)));
  }
  // Who receives it can rely on its size. No further seals: nobody may make it read only.
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return Status(Code::unsupported, fmt::format("cannot seal the shared segment '{}': {}", name, error_text(errno)));
  }
  return map(std::move(fd), bytes);
}

Result<Segment> Segment::adopt(FileDescriptor fd, std::size_t bytes) {
  struct stat file {};
  if (bytes == 0 || fstat(fd.get(), &file) != 0) return invalid_argument("a shared segment that came is no file");
  const int seals = fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return invalid_argument("a shared segment that came is not sealed against shrinking; its sender is no Tutti");
  }
  if (file.st_size < 0 || static_cast<std::size_t>(file.st_size) < bytes) {
    return invalid_argument(
        fmt::format("a shared segment that came has {} bytes where {} were announced", file.st_size, bytes));
  }
  return map(std::move(fd), bytes);
}

Result<Segment> Segment::map(FileDescriptor fd, std::size_t bytes) {
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
  if (data == MAP_FAILED) {  // NOLINT: the macro casts an integer
    return Status(Code::out_of_memory, fmt::format("cannot map {} bytes of shared memory: {}; look at the limit of the "
                                                   "address space ('ulimit -v')",
                                                   bytes, error_text(errno)));
  }
  madvise(data, bytes, MADV_DONTDUMP);
  Segment segment;
  segment.fd_ = std::move(fd);
  segment.data_ = static_cast<std::byte*>(data);
  segment.size_ = bytes;
  return segment;
}

Segment& Segment::operator=(Segment&& other) noexcept {
  if (this != &other) {
    unmap();
    fd_ = std::move(other.fd_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

void Segment::unmap() {
  if (data_ != nullptr) munmap(data_, size_);
}

Status Segment::release_pages(std::size_t offset, std::size_t bytes) const {
  TUTTI_ASSERT(offset <= size_ && bytes <= size_ - offset, "only pages of the segment can be given back");
  if (bytes == 0) return {};
  constexpr int kMode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  int failed = 0;
  do {
    failed = fallocate(fd(), kMode, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (failed != 0 && errno == EINTR);
  if (failed == 0) return {};
  return {Code::unsupported, fmt::format("cannot give {} bytes of shared memory back: {}", bytes, error_text(errno))};
}

}  // namespace tutti::os

#include "bootstrap/store/shared_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "os/backoff.h"
#include "os/clock.h"
#include "os/error_text.h"

namespace tutti::bootstrap {
namespace {

enum class LockByte : off_t { turn = 0, presence = 1 };

// Of the open file rather than of the process, so that several stores of one process exclude each other too.
bool try_lock(int fd, LockByte byte, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(byte);
  lock.l_len = 1;
  while (::fcntl(fd, F_OFD_SETLK, &lock) != 0)
    if (errno != EINTR) return false;
  return true;
}

Status io_failure(std::string_view doing, const std::string& path, int error) {
  return {Code::network, fmt::format("cannot {} '{}': {}; is the disk full, or the file system gone?", doing, path,
                                     os::error_text(error))};
}

Status open_failure(const std::string& path, int error) {
  const auto parent = std::filesystem::path(path).parent_path();
  const std::string directory = parent.empty() ? "." : parent.string();
  std::error_code ignored;
  if ((error == ENOENT || error == ENOTDIR) && !std::filesystem::is_directory(directory, ignored))
    return invalid_argument(
        fmt::format("cannot open the store '{}': there is no directory '{}'; create it or choose "
                    "another path",
                    path, directory));
  if (error == EACCES || error == EPERM || error == EROFS)
    return invalid_argument(fmt::format("cannot open the store '{}': {}; choose a path in a directory of your own",
                                        path, os::error_text(error)));
  if (error == ELOOP || error == EISDIR)
    return invalid_argument(
        fmt::format("cannot open the store '{}': it is a link or a directory; give the path of a "
                    "file",
                    path));
  return {Code::invalid_argument, fmt::format("cannot open the store '{}': {}", path, os::error_text(error))};
}

Status check_file(const std::string& path, int fd) {
  struct stat found {};
  if (::fstat(fd, &found) != 0) return io_failure("look at", path, errno);
  if (!S_ISREG(found.st_mode))
    return invalid_argument(fmt::format("the store '{}' is no plain file; give the path of a file", path));
  if (found.st_uid != ::geteuid())
    return invalid_argument(
        fmt::format("the store '{}' belongs to user {} and this process runs as user {}; choose a "
                    "path of your own",
                    path, found.st_uid, ::geteuid()));
  return {};
}

}  // namespace

SharedFile::Turn::~Turn() {
  if (fd_ >= 0) try_lock(fd_, LockByte::turn, F_UNLCK);
}

Result<SharedFile::Opened> SharedFile::open(const std::string& path, Deadline deadline) {
  while (true) {
    // Links are not followed and devices not waited for: the path may lie in a directory that others write to.
    constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    os::FileDescriptor fd(::open(path.c_str(), kFlags, S_IRUSR | S_IWUSR));
    if (!fd.is_open()) return open_failure(path, errno);
    TUTTI_TRY(check_file(path, fd.get()));
    SharedFile file(std::move(fd), path);
    TUTTI_ASSIGN(Turn turn, file.take_turn(deadline));
    if (file.is_at_path()) {
      if (!try_lock(file.fd_.get(), LockByte::presence, F_RDLCK))
        return Status(Code::unsupported, fmt::format("cannot lock the store '{}': {}", path, os::error_text(errno)));
      return Opened{std::move(file), std::move(turn)};
    }
    // The last one to go has removed the path after it was opened here: there is a new one to open.
    if (deadline.has_passed(os::now()))
      return Status(Code::timed_out,
                    fmt::format("the store '{}' was removed again and again while it was opened", path));
  }
}

Result<SharedFile::Turn> SharedFile::take_turn(Deadline deadline) {
  os::Backoff backoff;
  while (!try_lock(fd_.get(), LockByte::turn, F_WRLCK)) {
    if (errno != EAGAIN && errno != EACCES)
      return Status(Code::unsupported, fmt::format("cannot lock the store '{}': {}; choose a path on a local file "
                                                   "system, or a 'unix:' store",
                                                   path_, os::error_text(errno)));
    if (deadline.has_passed(os::now()))
      return Status(Code::timed_out, fmt::format("another process kept the store '{}' locked; is one of the ranks "
                                                 "stopped?",
                                                 path_));
    backoff.pause(deadline);
  }
  return Turn(fd_.get());
}

bool SharedFile::is_alone() const {
  const bool is_alone = try_lock(fd_.get(), LockByte::presence, F_WRLCK);
  if (is_alone) try_lock(fd_.get(), LockByte::presence, F_RDLCK);
  return is_alone;
}

bool SharedFile::is_at_path() const {
  struct stat mine {};
  struct stat there {};
  return ::fstat(fd_.get(), &mine) == 0 && ::lstat(path_.c_str(), &there) == 0 && mine.st_dev == there.st_dev &&
         mine.st_ino == there.st_ino;
}

void SharedFile::remove() noexcept {
  if (is_at_path()) ::unlink(path_.c_str());
}

bool SharedFile::is_removed() const {
  struct stat found {};
  return ::fstat(fd_.get(), &found) == 0 && found.st_nlink == 0;
}

Result<std::uint64_t> SharedFile::size() const {
  struct stat found {};
  if (::fstat(fd_.get(), &found) != 0) return io_failure("look at", path_, errno);
  return static_cast<std::uint64_t>(found.st_size);
}

Status SharedFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_failure("read", path_, errno);
    if (got == 0)
      return {Code::network,
              fmt::format("the store '{}' became shorter while it was read; who else writes there?", path_)};
    offset += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

Status SharedFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::uint64_t start = offset;
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      const Status failure = io_failure("write", path_, put < 0 ? errno : ENOSPC);
      static_cast<void>(truncate(start));
      return failure;
    }
    offset += static_cast<std::uint64_t>(put);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

Status SharedFile::truncate(std::uint64_t size) {
  while (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0)
    if (errno != EINTR) return io_failure("shorten", path_, errno);
  return {};
}

Status SharedFile::close_to_others() {
  return ::fchmod(fd_.get(), S_IRUSR | S_IWUSR) == 0 ? Status() : io_failure("close to other users", path_, errno);
}

}  // namespace tutti::bootstrap

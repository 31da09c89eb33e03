#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "launch/output/target.h"
#include "os/error_text.h"
#include "os/file_descriptor.h"

namespace tutti::launch {

namespace {

constexpr std::size_t kPipeBytesWanted = std::size_t{1} << 20;  // fewer changes between us and the reader
constexpr std::size_t kWriteBytesMax = std::size_t{1} << 20;
constexpr std::size_t kCarefulBytesMax = 4096;  // what a pipe that poll() calls writable takes without blocking

enum class Manner : std::uint8_t {
  plainly,       // a write does not wait for anybody: a regular file, or a description of our own that never blocks
  as_to_socket,  // a flag of each call says that it does not wait
  carefully,     // only what poll() says that it takes
};

class ConsoleTarget final : public Target {
 public:
  ConsoleTarget(int fd, std::string name) : fd_(fd), name_(std::move(name)) { choose_manner(); }

  Result<std::size_t> write(std::uint32_t, std::string_view bytes) override {
    while (true) {
      const ssize_t written = write_once(bytes.substr(0, kWriteBytesMax));
      if (written >= 0) return static_cast<std::size_t>(written);
      if (errno == EAGAIN || errno == EWOULDBLOCK) return std::size_t{0};
      if (errno != EINTR) return failure(errno);
    }
  }

  int wait_fd() const override { return fd_; }

 private:
  // The same pipe or terminal, opened once more: what is set there is ours alone. Sockets cannot be opened so, and
  // files would be written from their beginning.
  void choose_manner() {
    struct stat facts {};
    if (::fstat(fd_, &facts) != 0 || S_ISREG(facts.st_mode)) return;
    if (S_ISSOCK(facts.st_mode)) {
      manner_ = Manner::as_to_socket;
      return;
    }
    if (S_ISFIFO(facts.st_mode)) ::fcntl(fd_, F_SETPIPE_SZ, static_cast<int>(kPipeBytesWanted));
    const std::string path = fmt::format("/proc/self/fd/{}", fd_);
    own_ = os::FileDescriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    if (own_.is_open()) {
      fd_ = own_.get();
    } else {
      manner_ = Manner::carefully;
    }
  }

  ssize_t write_once(std::string_view bytes) const {
    switch (manner_) {
      case Manner::plainly: return ::write(fd_, bytes.data(), bytes.size());
      case Manner::as_to_socket: return ::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      case Manner::carefully: break;
    }
    pollfd ready{fd_, POLLOUT, 0};
    if (::poll(&ready, 1, 0) == 0) {
      errno = EAGAIN;
      return -1;
    }
    return ::write(fd_, bytes.data(), std::min(bytes.size(), kCarefulBytesMax));
  }

  Status failure(int error) const {
    if (error == EPIPE || error == ECONNRESET)
      return {Code::peer_lost, fmt::format("nobody reads {} any more: {}", name_, os::error_text(error))};
    if (error == EIO)
      return {Code::peer_lost, fmt::format("the terminal of {} is gone: {}", name_, os::error_text(error))};
    return {Code::invalid_usage,
            fmt::format("cannot write to {}: {}; look at what it was directed to", name_, os::error_text(error))};
  }

  int fd_;
  std::string name_;
  os::FileDescriptor own_;
  Manner manner_ = Manner::plainly;
};

}  // namespace

std::unique_ptr<Target> create_console_target(int fd, std::string name) {
  return std::make_unique<ConsoleTarget>(fd, std::move(name));
}

bool is_same_file(int fd, int other) {
  struct stat one {};
  struct stat two {};
  if (::fstat(fd, &one) != 0 || ::fstat(other, &two) != 0) return false;
  return one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

}  // namespace tutti::launch

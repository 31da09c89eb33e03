#include "os/unix_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "os/backoff.h"
#include "os/clock.h"
#include "os/error_text.h"
#include "os/poll.h"

namespace tutti::os {
namespace {

constexpr int kBacklog = 4096;  // processes that may come at the same moment; the kernel cuts it to net.core.somaxconn

struct Address {
  sockaddr_un bytes{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
};

bool is_abstract(std::string_view name) { return name.starts_with('@'); }

std::string directory_of(std::string_view path) {
  const auto directory = std::filesystem::path(path).parent_path();
  return directory.empty() ? "." : directory.string();
}

Result<Address> address_of(std::string_view name) {
  if (name.empty() || name == "@") return invalid_argument("a socket needs a name: a path, or '@' and a name");
  if (name.find('\0') != std::string_view::npos) return invalid_argument("the name of a socket has a zero byte in it");
  if (name.size() > kSocketNameBytesMax)
    return invalid_argument(
        fmt::format("the socket path '{}' has {} bytes and the kernel takes {}; choose a shorter "
                    "directory, such as one below /tmp",
                    name, name.size(), kSocketNameBytesMax));
  Address address;
  address.bytes.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.bytes.sun_path);
  if (is_abstract(name)) address.bytes.sun_path[0] = '\0';
  const std::size_t terminator = is_abstract(name) ? 0 : 1;
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + terminator);
  return address;
}

// The failure of a call that names a path; the causes that people meet have a sentence of their own.
Status path_failure(std::string_view doing, std::string_view name, int error) {
  std::error_code ignored;
  if ((error == ENOENT || error == ENOTDIR) && !std::filesystem::is_directory(directory_of(name), ignored))
    return invalid_argument(fmt::format("cannot {} '{}': there is no directory '{}'; create it or choose another path",
                                        doing, name, directory_of(name)));
  if (error == EACCES || error == EPERM || error == EROFS)
    return invalid_argument(
        fmt::format("cannot {} '{}': {}; choose a directory of your own", doing, name, error_text(error)));
  return {Code::network, fmt::format("cannot {} '{}': {}", doing, name, error_text(error))};
}

Result<FileDescriptor> create_socket(SocketKind kind) {
  const int type = kind == SocketKind::stream ? SOCK_STREAM : SOCK_SEQPACKET;
  FileDescriptor fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open())
    return Status(Code::network, fmt::format("cannot create a socket: {}; look at the limit of open files "
                                             "('ulimit -n')",
                                             error_text(errno)));
  return fd;
}

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

Status connection_failure(std::string_view doing, int error) {
  if (error == EPIPE || error == ECONNRESET || error == ENOTCONN)
    return {Code::peer_lost, "the other end of the socket was closed", Scope::connection};
  return {Code::network, fmt::format("{} on a socket failed: {}", doing, error_text(error)), Scope::connection};
}

Status socket_timed_out(std::string_view doing) {
  return {Code::timed_out, fmt::format("{} on a socket did not end in time", doing), Scope::connection};
}

// Locks the directory of a path: of several who find a dead socket there only one may put its own in place. A lock
// needs no file of its own, and file systems without such locks are not shared by machines that could race.
Result<FileDescriptor> lock_directory(std::string_view path, Deadline deadline) {
  const std::string directory = directory_of(path);
  FileDescriptor fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) {
    if (errno == EACCES) return FileDescriptor();  // a directory one may write to but not list cannot be locked
    return path_failure("listen on", path, errno);
  }
  Backoff backoff;
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (!would_block(errno) && errno != EINTR) return FileDescriptor();
    if (deadline.has_passed(now()))
      return Status(Code::timed_out, fmt::format("cannot listen on '{}': another process keeps the directory '{}' "
                                                 "locked; choose a directory of your own",
                                                 path, directory));
    backoff.pause(deadline);
  }
  return fd;
}

// After bind() found a file in place: success when it was a dead socket and is gone now.
Status remove_dead_socket(std::string_view name, const Address& address, SocketKind kind) {
  const std::string path(name);
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return errno == ENOENT ? Status() : path_failure("listen on", name, errno);
  if (!S_ISSOCK(found.st_mode))
    return invalid_argument(
        fmt::format("cannot listen on '{}': there is a file that is no socket; choose another path "
                    "or remove it",
                    name));
  TUTTI_ASSIGN(const FileDescriptor probe, create_socket(kind));
  if (::connect(probe.get(), address.get(), address.length) == 0 || errno != ECONNREFUSED)
    return {Code::invalid_usage, fmt::format("cannot listen on '{}': another process does already; every start needs a "
                                             "path of its own",
                                             name)};
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return path_failure("replace the dead socket", name, errno);
  return {};
}

Status bind_path(int fd, std::string_view name, const Address& address, SocketKind kind) {
  ::fchmod(fd, S_IRUSR | S_IWUSR);  // before bind(): the file never has another mode, whatever the umask
  if (::bind(fd, address.get(), address.length) == 0) return {};
  if (errno != EADDRINUSE) return path_failure("listen on", name, errno);
  TUTTI_TRY(remove_dead_socket(name, address, kind));
  if (::bind(fd, address.get(), address.length) == 0) return {};
  return path_failure("listen on", name, errno);
}

}  // namespace

Result<std::optional<UnixSocket>> UnixSocket::try_connect(std::string_view name, SocketKind kind) {
  TUTTI_ASSIGN(const Address address, address_of(name));
  TUTTI_ASSIGN(FileDescriptor fd, create_socket(kind));
  if (::connect(fd.get(), address.get(), address.length) == 0)
    return std::optional<UnixSocket>(std::in_place, std::move(fd));
  const int error = errno;
  if (would_block(error) || error == EINTR) return std::optional<UnixSocket>();
  std::error_code ignored;
  const bool may_come =
      error == ECONNREFUSED || (error == ENOENT && std::filesystem::is_directory(directory_of(name), ignored));
  if (!may_come) return path_failure("connect to", name, error);
  return Status(Code::peer_lost, fmt::format("nobody listens on '{}'", name));
}

Result<UnixSocket> UnixSocket::connect(std::string_view name, SocketKind kind, Deadline deadline) {
  Backoff backoff;
  while (true) {
    auto socket = try_connect(name, kind);
    if (socket && socket->has_value()) return **std::move(socket);
    if (!socket && socket.status().code() != Code::peer_lost) return socket.status();
    if (deadline.has_passed(now()))
      return Status(Code::timed_out, fmt::format("nobody listens on '{}'; start the process that should, or give it "
                                                 "more time",
                                                 name));
    backoff.pause(deadline);
  }
}

Result<std::size_t> UnixSocket::try_send(std::span<const std::byte> bytes) {
  while (true) {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (would_block(errno)) return std::size_t{0};
    if (errno != EINTR) return connection_failure("sending", errno);
  }
}

Result<std::size_t> UnixSocket::try_receive(std::span<std::byte> bytes) {
  while (true) {
    const ssize_t received = ::recv(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (received > 0) return static_cast<std::size_t>(received);
    if (received == 0) return connection_failure("receiving", ECONNRESET);
    if (would_block(errno)) return std::size_t{0};
    if (errno != EINTR) return connection_failure("receiving", errno);
  }
}

Status UnixSocket::wait_readable(Deadline deadline) {
  return poll_until(fd_.get(), POLLIN, deadline) ? Status() : socket_timed_out("receiving");
}

Status UnixSocket::wait_writable(Deadline deadline) {
  return poll_until(fd_.get(), POLLOUT, deadline) ? Status() : socket_timed_out("sending");
}

Status UnixSocket::send_all(std::span<const std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    TUTTI_ASSIGN(const std::size_t sent, try_send(bytes));
    bytes = bytes.subspan(sent);
    if (sent == 0) TUTTI_TRY(wait_writable(deadline));
  }
  return {};
}

Result<std::size_t> UnixSocket::receive_packet(std::span<std::byte> space, Deadline deadline) {
  while (true) {
    const ssize_t received = ::recv(fd_.get(), space.data(), space.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (received == 0) return connection_failure("receiving", ECONNRESET);
    if (received > 0) {
      const auto size = static_cast<std::size_t>(received);
      if (size <= space.size()) return size;
      return Status(Code::network,
                    fmt::format("a packet of {} bytes came where at most {} were expected", size, space.size()),
                    Scope::connection);
    }
    if (would_block(errno)) {
      TUTTI_TRY(wait_readable(deadline));
    } else if (errno != EINTR) {
      return connection_failure("receiving", errno);
    }
  }
}

Status UnixSocket::receive_exactly(std::span<std::byte> bytes, Deadline deadline) {
  int type = SOCK_STREAM;
  socklen_t type_bytes = sizeof(type);
  ::getsockopt(fd_.get(), SOL_SOCKET, SO_TYPE, &type, &type_bytes);
  if (type == SOCK_SEQPACKET) {
    TUTTI_ASSIGN(const std::size_t size, receive_packet(bytes, deadline));
    if (size == bytes.size()) return {};
    return {Code::network, fmt::format("a packet of {} bytes came where {} were expected", size, bytes.size()),
            Scope::connection};
  }
  while (!bytes.empty()) {
    TUTTI_ASSIGN(const std::size_t received, try_receive(bytes));
    bytes = bytes.subspan(received);
    if (received == 0) TUTTI_TRY(wait_readable(deadline));
  }
  return {};
}

Result<UnixSocket::Peer> UnixSocket::peer() const {
  ucred credentials{};
  socklen_t bytes = sizeof(credentials);
  if (::getsockopt(fd_.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0)
    return connection_failure("asking who is on the other side", errno);
  return Peer{.pid = credentials.pid, .user = credentials.uid};
}

Result<UnixListener> UnixListener::listen(std::string_view name, SocketKind kind, Deadline deadline) {
  TUTTI_ASSIGN(const Address address, address_of(name));
  TUTTI_ASSIGN(FileDescriptor fd, create_socket(kind));
  FileDescriptor lock;  // held until somebody listens: a socket nobody listens on yet looks dead to others
  if (!is_abstract(name)) {
    TUTTI_ASSIGN(lock, lock_directory(name, deadline));
    TUTTI_TRY(bind_path(fd.get(), name, address, kind));
  } else if (::bind(fd.get(), address.get(), address.length) != 0) {
    return Status(Code::invalid_usage, fmt::format("cannot listen on '{}': {}", name, error_text(errno)));
  }
  UnixListener listener(std::move(fd), std::string(name));
  struct stat made {};
  if (!is_abstract(name) && ::lstat(listener.name_.c_str(), &made) == 0) {
    listener.path_ = listener.name_;
    listener.device_ = made.st_dev;
    listener.inode_ = made.st_ino;
  }
  if (::listen(listener.fd_.get(), kBacklog) != 0) return path_failure("listen on", name, errno);
  return listener;
}

UnixListener::UnixListener(UnixListener&& other) noexcept
    : fd_(std::move(other.fd_)),
      name_(std::move(other.name_)),
      path_(std::exchange(other.path_, {})),
      device_(other.device_),
      inode_(other.inode_) {}

UnixListener& UnixListener::operator=(UnixListener&& other) noexcept {
  if (this == &other) return *this;
  close();
  fd_ = std::move(other.fd_);
  name_ = std::move(other.name_);
  path_ = std::exchange(other.path_, {});
  device_ = other.device_;
  inode_ = other.inode_;
  return *this;
}

Result<std::optional<UnixSocket>> UnixListener::try_accept() {
  while (true) {
    FileDescriptor fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd.is_open()) return std::optional<UnixSocket>(std::in_place, std::move(fd));
    if (would_block(errno) || errno == ECONNABORTED) return std::optional<UnixSocket>();
    if (errno != EINTR)
      return Status(Code::network, fmt::format("cannot accept on '{}': {}; look at the limit of open files ('ulimit "
                                               "-n')",
                                               name_, error_text(errno)));
  }
}

Result<UnixSocket> UnixListener::accept(Deadline deadline) {
  while (true) {
    TUTTI_ASSIGN(auto socket, try_accept());
    if (socket) return *std::move(socket);
    if (!poll_until(fd_.get(), POLLIN, deadline))
      return Status(Code::timed_out, fmt::format("nobody has connected to '{}' in time", name_));
  }
}

void UnixListener::remove_path() noexcept {
  if (path_.empty()) return;
  struct stat found {};
  if (::lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ && found.st_ino == inode_) ::unlink(path_.c_str());
  path_.clear();
}

void UnixListener::close() noexcept {
  remove_path();
  fd_.close();
}

}  // namespace tutti::os

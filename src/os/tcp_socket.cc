#include "os/tcp_socket.h"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "os/error_text.h"
#include "os/poll.h"

namespace tutti::os {
namespace {

constexpr int kBacklog = 1024;  // processes that may come at the same moment

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

bool is_closed_by_peer(int error) { return error == EPIPE || error == ECONNRESET || error == ENOTCONN; }

void set_option(int fd, int level, int name, int value) {
  // Each is a wish: where the kernel refuses, the connection works without it.
  ::setsockopt(fd, level, name, &value, sizeof(value));
}

void set_silence(int fd, const TcpOptions& options) {
  const auto limit = std::clamp<std::int64_t>(options.silence_max.count(), 0, std::numeric_limits<int>::max());
  const int milliseconds = static_cast<int>(limit);
  constexpr int kMsPerSecond = 1000;
  const int seconds = std::max(1, milliseconds / kMsPerSecond);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, limit > 0 ? 1 : 0);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, options.may_take_nothing ? 0 : milliseconds);
  if (limit == 0) return;
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, std::max(1, seconds / 2));
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, seconds / 4));
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 2);
}

void apply(int fd, const TcpOptions& options) {
  const auto bytes = [](std::size_t count) {
    return static_cast<int>(std::min<std::size_t>(count, std::numeric_limits<int>::max() / 2));
  };
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  if (options.send_buffer_bytes != 0) set_option(fd, SOL_SOCKET, SO_SNDBUF, bytes(options.send_buffer_bytes));
  if (options.receive_buffer_bytes != 0) set_option(fd, SOL_SOCKET, SO_RCVBUF, bytes(options.receive_buffer_bytes));
  if (!options.congestion.empty())
    ::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, options.congestion.data(),
                 static_cast<socklen_t>(options.congestion.size()));
  set_silence(fd, options);
}

Result<FileDescriptor> create_socket(const TcpAddress& address) {
  FileDescriptor fd(::socket(address.is_ipv6() ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.is_open()) return fd;
  if (errno == EAFNOSUPPORT)
    return Status(Code::network, fmt::format("cannot use {}: this machine has no {}", address.text(),
                                             address.is_ipv6() ? "IPv6" : "IPv4"));
  return Status(Code::network, fmt::format("cannot create a socket for {}: {}; look at the limit of open files "
                                           "('ulimit -n')",
                                           address.text(), error_text(errno)));
}

Status connect_failure(const TcpAddress& to, int error) {
  if (error == ECONNREFUSED)
    return {Code::peer_lost, fmt::format("nobody listens on {}", to.text()), Scope::connection};
  return {Code::network, fmt::format("cannot connect to {}: {}", to.text(), error_text(error)), Scope::connection};
}

Result<TcpAddress> bound_address(int fd, std::string_view whose) {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0)
    return Status(Code::network, fmt::format("cannot ask for the address of {}: {}", whose, error_text(errno)));
  return TcpAddress::of_kernel(storage);
}

}  // namespace

Result<TcpSocket> TcpSocket::start_connect(const TcpAddress& to, const std::optional<TcpAddress>& from,
                                           const TcpOptions& options) {
  TUTTI_ASSIGN(FileDescriptor fd, create_socket(to));
  apply(fd.get(), options);
  if (from) {
    set_option(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);  // the port is chosen when the target is known
    const KernelAddress local = from->kernel();
    if (::bind(fd.get(), local.get(), local.length) != 0)
      return Status(Code::network,
                    fmt::format("cannot connect to {} from {}: {}", to.text(), from->host(), error_text(errno)));
  }
  const KernelAddress remote = to.kernel();
  if (::connect(fd.get(), remote.get(), remote.length) != 0 && errno != EINPROGRESS && errno != EINTR)
    return connect_failure(to, errno);
  return TcpSocket(std::move(fd), to);
}

Result<bool> TcpSocket::finish_connect() {
  int error = 0;
  socklen_t length = sizeof(error);
  ::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) return connect_failure(peer_, error);
  sockaddr_storage storage{};
  length = sizeof(storage);
  if (::getpeername(fd_.get(), reinterpret_cast<sockaddr*>(&storage), &length) == 0) return true;
  if (errno == ENOTCONN) return false;
  return connect_failure(peer_, errno);
}

Result<TcpSocket> TcpSocket::connect(const TcpAddress& to, const std::optional<TcpAddress>& from,
                                     const TcpOptions& options, Deadline deadline) {
  TUTTI_ASSIGN(TcpSocket socket, start_connect(to, from, options));
  while (true) {
    TUTTI_TRY(socket.wait_writable(deadline));
    TUTTI_ASSIGN(const bool is_connected, socket.finish_connect());
    if (is_connected) return socket;
  }
}

Status TcpSocket::failure(std::string_view doing, int error) const {
  if (is_closed_by_peer(error)) return {Code::peer_lost, fmt::format("closed by {}", peer_text()), Scope::connection};
  return {Code::network, fmt::format("{} {} failed: {}", doing, peer_text(), error_text(error)), Scope::connection};
}

Result<std::size_t> TcpSocket::try_read(std::span<const iovec> space) {
  const ssize_t count = ::readv(fd_.get(), space.data(), static_cast<int>(space.size()));
  if (count > 0) return static_cast<std::size_t>(count);
  if (count == 0) return failure("reading from", ECONNRESET);
  if (would_block(errno) || errno == EINTR) return std::size_t{0};
  return failure("reading from", errno);
}

Result<std::size_t> TcpSocket::try_write(std::span<const iovec> data) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(data.data());  // the kernel does not write to it
  message.msg_iovlen = data.size();
  const ssize_t count = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
  if (count >= 0) return static_cast<std::size_t>(count);
  if (would_block(errno) || errno == EINTR) return std::size_t{0};
  return failure("writing to", errno);
}

void TcpSocket::set_options(const TcpOptions& options) noexcept { apply(fd_.get(), options); }

void TcpSocket::shutdown_write() noexcept { ::shutdown(fd_.get(), SHUT_WR); }

bool TcpSocket::is_unanswered(std::chrono::milliseconds silence) const noexcept {
  tcp_info info{};
  socklen_t length = sizeof(info);
  if (::getsockopt(fd_.get(), IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return false;
  // More than one try, since the last answer may be old where nothing was asked. A receiver that takes nothing is asked
  // ever more rarely, and answers.
  const bool was_asked_again = info.tcpi_unacked > 0 ? info.tcpi_retransmits > 1 : info.tcpi_probes > 2;
  return was_asked_again && info.tcpi_last_ack_recv > silence.count();
}

std::size_t TcpSocket::unacknowledged_bytes() const noexcept {
  tcp_info info{};
  socklen_t length = sizeof(info);
  const bool is_known = ::getsockopt(fd_.get(), IPPROTO_TCP, TCP_INFO, &info, &length) == 0;
  if (!is_known || info.tcpi_state == TCP_CLOSE) return 0;
  int bytes = 0;
  return ::ioctl(fd_.get(), SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

Status TcpSocket::wait_readable(Deadline deadline) {
  if (poll_until(fd_.get(), POLLIN, deadline)) return {};
  return {Code::timed_out, fmt::format("nothing came from {} in time", peer_text()), Scope::connection};
}

Status TcpSocket::wait_writable(Deadline deadline) {
  if (poll_until(fd_.get(), POLLOUT, deadline)) return {};
  return {Code::timed_out, fmt::format("{} took nothing in time", peer_text()), Scope::connection};
}

Result<TcpAddress> TcpSocket::local_address() const { return bound_address(fd_.get(), "a connection"); }

Result<TcpListener> TcpListener::listen(const TcpAddress& address, const TcpOptions& options) {
  TUTTI_ASSIGN(FileDescriptor fd, create_socket(address));
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.is_ipv6()) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, address.is_any() ? 0 : 1);
  apply(fd.get(), options);  // those it accepts inherit buffers and congestion control
  const KernelAddress local = address.kernel();
  if (::bind(fd.get(), local.get(), local.length) != 0 || ::listen(fd.get(), kBacklog) != 0) {
    const int error = errno;
    const std::string_view remedy = error == EADDRINUSE ? "; choose another port, or 0 for any that is free" : "";
    return Status(error == EADDRINUSE ? Code::invalid_usage : Code::network,
                  fmt::format("cannot listen on {}: {}{}", address.text(), error_text(error), remedy));
  }
  TUTTI_ASSIGN(const TcpAddress bound, bound_address(fd.get(), "a listener"));
  return TcpListener(std::move(fd), bound, options);
}

Result<TcpListener> TcpListener::listen_on_all(std::uint16_t port, const TcpOptions& options) {
  if (auto listener = listen({IpAddress{.family = AddressFamily::ipv6}, port}, options)) return listener;
  return listen({IpAddress{.family = AddressFamily::ipv4}, port}, options);
}

Result<std::optional<TcpSocket>> TcpListener::try_accept() {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  FileDescriptor fd(::accept4(fd_.get(), reinterpret_cast<sockaddr*>(&storage), &length, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (fd.is_open()) {
    apply(fd.get(), options_);
    return std::optional<TcpSocket>(TcpSocket(std::move(fd), TcpAddress::of_kernel(storage)));
  }
  const int error = errno;
  if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM)
    return Status(Code::out_of_memory, fmt::format("cannot accept on {}: {}; look at the limit of open files "
                                                   "('ulimit -n')",
                                                   address_.text(), error_text(error)));
  if (error == EBADF || error == EINVAL || error == ENOTSOCK)
    return Status(Code::internal, fmt::format("cannot accept on {}: {}", address_.text(), error_text(error)));
  return std::optional<TcpSocket>();  // all others are failures of a connection that nobody has any more
}

Result<TcpSocket> TcpListener::accept(Deadline deadline) {
  while (true) {
    TUTTI_ASSIGN(auto socket, try_accept());
    if (socket) return *std::move(socket);
    if (!poll_until(fd_.get(), POLLIN, deadline))
      return Status(Code::timed_out, fmt::format("nobody has connected to {} in time", address_.text()));
  }
}

}  // namespace tutti::os

#include "bootstrap/store/unix_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "bootstrap/store/execute.h"
#include "os/clock.h"
#include "os/error_text.h"

namespace tutti::bootstrap {
namespace {

constexpr std::size_t kConnectionsMax = 4096;  // more ranks than a machine has; the rest wait in the listener's queue
constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr int kPauseMs = 100;  // until accepting is tried again when the process has run out of descriptors

struct Connection {
  explicit Connection(os::UnixSocket connected) : socket(std::move(connected)) {}
  os::UnixSocket socket;
  Bytes inbound = {};
  Bytes outbound = {};
  std::optional<std::string> awaited = {};  // the key it waits for
  bool is_lost = false;
};

// Sends what goes now; the rest stays for when the socket can take more.
void flush(Connection& connection) {
  std::size_t sent = 0;
  while (!connection.is_lost && sent < connection.outbound.size()) {
    const auto step = connection.socket.try_send(std::span(connection.outbound).subspan(sent));
    if (!step) connection.is_lost = true;
    if (!step || *step == 0) break;
    sent += *step;
  }
  connection.outbound.erase(connection.outbound.begin(),
                            connection.outbound.begin() + static_cast<std::ptrdiff_t>(sent));
}

void answer(Connection& connection, const Reply& reply) {
  append(connection.outbound, frame_of(reply));
  flush(connection);
}

}  // namespace

class ServerLoop {
 public:
  explicit ServerLoop(UnixServer& server) : server_(server) {}
  void run();

 private:
  bool may_accept() const { return server_.listener_.descriptor() >= 0 && connections_.size() < kConnectionsMax; }
  int wait_for_events(std::optional<Deadline> end);
  void accept_all();
  void receive(Connection& connection);
  void take_requests(Connection& connection);
  bool take_request(Connection& connection);
  std::optional<Reply> execute(Connection& connection, const Request& request);
  void answer_waiting(const std::string& key);

  UnixServer& server_;
  Table table_;
  std::vector<Connection> connections_;
  std::vector<pollfd> events_;
  bool is_short_of_descriptors_ = false;
};

void ServerLoop::run() {
  std::optional<Deadline> end;
  while (true) {
    if (server_.has_no_path_.load()) server_.listener_.close();
    if (server_.is_ending_.load() && !end) {
      server_.listener_.close();
      end = Deadline::after(os::now(), server_.linger_);
    }
    if (end && (connections_.empty() || end->has_passed(os::now()))) return;
    if (wait_for_events(end) <= 0) continue;
    // The first two events are not connections, and connections that come now have no events yet.
    for (std::size_t index = 2; index < events_.size(); ++index)
      if (events_[index].revents != 0) receive(connections_[index - 2]);
    if (events_[0].revents != 0) {
      std::uint64_t count = 0;
      static_cast<void>(!::read(server_.wake_.get(), &count, sizeof(count)));
    }
    if (events_[1].revents != 0 && may_accept()) accept_all();
    std::erase_if(connections_, [](const Connection& connection) { return connection.is_lost; });
  }
}

int ServerLoop::wait_for_events(std::optional<Deadline> end) {
  events_.clear();
  events_.push_back({server_.wake_.get(), POLLIN, 0});
  events_.push_back({may_accept() && !is_short_of_descriptors_ ? server_.listener_.descriptor() : -1, POLLIN, 0});
  for (const Connection& connection : connections_) {
    // Who does not read its replies is not listened to either, so that they do not pile up.
    const short wanted = connection.outbound.empty() ? POLLIN : POLLOUT;
    events_.push_back({connection.socket.descriptor(), wanted, 0});
  }
  const int timeout_ms = end || is_short_of_descriptors_ ? kPauseMs : -1;
  is_short_of_descriptors_ = false;
  return ::poll(events_.data(), events_.size(), timeout_ms);
}

void ServerLoop::accept_all() {
  while (connections_.size() < kConnectionsMax) {
    auto socket = server_.listener_.try_accept();
    if (!socket) is_short_of_descriptors_ = true;
    if (!socket || !socket->has_value()) return;
    const auto peer = (*socket)->peer();
    if (peer && peer->user == ::geteuid()) connections_.emplace_back(*std::move(*socket));
  }
}

void ServerLoop::receive(Connection& connection) {
  flush(connection);
  take_requests(connection);  // first: no more than one unfinished request is ever kept
  if (connection.outbound.empty() && !connection.is_lost) {
    const std::size_t before = connection.inbound.size();
    connection.inbound.resize(before + kReadBytes);
    const auto received = connection.socket.try_receive(std::span(connection.inbound).subspan(before));
    connection.inbound.resize(before + (received ? *received : 0));
    if (!received) connection.is_lost = true;
  }
  take_requests(connection);
}

void ServerLoop::take_requests(Connection& connection) {
  while (!connection.is_lost && connection.outbound.empty() && take_request(connection)) {
  }
}

// False: there is no whole request, or what is there is none.
bool ServerLoop::take_request(Connection& connection) {
  const auto body = parse_frame(connection.inbound);
  if (body && !body->has_value()) return false;
  const auto request = body ? parse_request(**body) : Result<Request>(body.status());
  // Nobody of ours sends garbage, or a request while another one waits.
  connection.is_lost = !request || (connection.awaited && request->kind != RequestKind::give_up);
  if (connection.is_lost) return false;
  const auto frame_bytes = static_cast<std::ptrdiff_t>(kFrameHeaderBytes + (*body)->size());
  connection.inbound.erase(connection.inbound.begin(), connection.inbound.begin() + frame_bytes);
  if (const auto reply = execute(connection, *request)) answer(connection, *reply);
  return true;
}

std::optional<Reply> ServerLoop::execute(Connection& connection, const Request& request) {
  if (request.kind == RequestKind::give_up) {
    if (!connection.awaited) return std::nullopt;
    connection.awaited.reset();
    return Reply{};
  }
  auto reply = bootstrap::execute(table_, request);
  if (!reply) connection.awaited = request.key;
  if (is_change(request.kind)) answer_waiting(request.key);
  return reply;
}

void ServerLoop::answer_waiting(const std::string& key) {
  const Bytes* value = table_.find(key);
  if (value == nullptr) return;
  for (Connection& waiting : connections_) {
    if (waiting.awaited != key) continue;
    waiting.awaited.reset();
    answer(waiting, reply_of(*value));
  }
}

Result<std::unique_ptr<UnixServer>> UnixServer::start(const std::string& path, Deadline deadline,
                                                      std::chrono::nanoseconds linger) {
  TUTTI_ASSIGN(os::UnixListener listener, os::UnixListener::listen(path, os::SocketKind::stream, deadline));
  os::FileDescriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.is_open())
    return Status(Code::network, fmt::format("cannot create an event descriptor: {}", os::error_text(errno)));
  std::unique_ptr<UnixServer> server(new UnixServer(std::move(listener), std::move(wake), linger));  // NOLINT: private
  TUTTI_ASSIGN(server->thread_, os::Thread::start("tutti-store", [&loop_of = *server] { ServerLoop(loop_of).run(); }));
  return server;
}

UnixServer::~UnixServer() {
  is_ending_.store(true);
  wake();
  thread_.join();
}

void UnixServer::remove_path() noexcept {
  has_no_path_.store(true);
  wake();
}

void UnixServer::wake() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_.get(), &one, sizeof(one)));  // fails only when the counter is full, which wakes too
}

}  // namespace tutti::bootstrap

#include "bootstrap/store/unix_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>

#include "base/bytes.h"
#include "bootstrap/store/remote_store.h"
#include "bootstrap/store/unix_server.h"
#include "os/clock.h"
#include "os/unix_socket.h"

namespace tutti::bootstrap {
namespace {

// A server that lives answers within microseconds; one that takes longer than this is stopped.
constexpr std::chrono::seconds kReplyWait{30};
// Of further connections to a server that is already known: it takes them at once or has ended.
constexpr std::chrono::seconds kReconnectWait{1};

Deadline reply_deadline() { return Deadline::after(os::now(), kReplyWait); }

// Threads use connections of their own while they talk, so that one may wait for a key that another one sets.
class UnixAsker final : public Asker {
 public:
  UnixAsker(std::string path, std::unique_ptr<UnixServer> server)
      : path_(std::move(path)), server_(std::move(server)) {}
  Status begin(Deadline deadline);

  Result<Reply> ask(const Request& request, Deadline deadline) override;
  void remove() noexcept override;

 private:
  Result<os::UnixSocket> connect(Deadline deadline) const;
  Result<os::UnixSocket> take_connection();
  Status explain(const Status& failure) const;

  std::string path_;
  std::unique_ptr<UnixServer> server_;  // of rank 0 only; it ends after this store's own connections
  std::mutex mutex_;
  std::vector<os::UnixSocket> idle_;
};

Result<Reply> receive_reply(os::UnixSocket& socket) {
  const Deadline deadline = reply_deadline();
  std::array<std::byte, kFrameHeaderBytes> header{};
  TUTTI_TRY(socket.receive_exactly(header, deadline));
  const auto bytes = load_number<std::uint32_t>(header);
  if (bytes == 0 || bytes > kFrameBytesMax)
    return invalid_argument(fmt::format("a reply says it has {} bytes; there are 1 to {}", bytes, kFrameBytesMax));
  Bytes body(bytes);
  TUTTI_TRY(socket.receive_exactly(body, deadline));
  return parse_reply(body);
}

Result<Reply> talk(os::UnixSocket& socket, const Request& request, Deadline deadline) {
  TUTTI_TRY(socket.send_all(frame_of(request), reply_deadline()));
  if (request.kind == RequestKind::wait && !socket.wait_readable(deadline))
    TUTTI_TRY(socket.send_all(frame_of({.kind = RequestKind::give_up, .key = request.key}), reply_deadline()));
  return receive_reply(socket);
}

Status UnixAsker::begin(Deadline deadline) {
  TUTTI_ASSIGN(os::UnixSocket socket, connect(deadline));
  idle_.push_back(std::move(socket));
  return {};
}

Result<os::UnixSocket> UnixAsker::connect(Deadline deadline) const {
  TUTTI_ASSIGN(os::UnixSocket socket, os::UnixSocket::connect(path_, os::SocketKind::stream, deadline));
  TUTTI_ASSIGN(const os::UnixSocket::Peer peer, socket.peer());
  if (peer.user != ::geteuid())
    return invalid_argument(
        fmt::format("the store '{}' is served by user {} and this process runs as user {}; choose a "
                    "path in a directory of your own",
                    path_, peer.user, ::geteuid()));
  return socket;
}

Result<os::UnixSocket> UnixAsker::take_connection() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      os::UnixSocket socket = std::move(idle_.back());
      idle_.pop_back();
      return socket;
    }
  }
  auto socket = connect(Deadline::after(os::now(), kReconnectWait));
  if (!socket && socket.status().code() == Code::timed_out) return Status(Code::peer_lost, "nobody listens");
  return socket;
}

Status UnixAsker::explain(const Status& failure) const {
  if (failure.code() == Code::peer_lost)
    return {Code::peer_lost, fmt::format("the store '{}' is gone: rank 0, which serves it, has ended", path_)};
  if (failure.code() == Code::timed_out)
    return {Code::peer_lost, fmt::format("rank 0, which serves the store '{}', has not answered for {} s; is it "
                                         "stopped?",
                                         path_, kReplyWait.count())};
  return failure.while_doing(fmt::format("using the store '{}'", path_));
}

// A connection that failed or that still owes a reply is not used again.
Result<Reply> UnixAsker::ask(const Request& request, Deadline deadline) {
  auto socket = take_connection();
  if (!socket) return explain(socket.status());
  auto reply = talk(*socket, request, deadline);
  if (!reply) return explain(reply.status());
  const std::lock_guard lock(mutex_);
  idle_.push_back(*std::move(socket));
  return reply;
}

void UnixAsker::remove() noexcept {
  if (server_ != nullptr) server_->remove_path();
}

Result<std::unique_ptr<Store>> open(const std::string& path, std::unique_ptr<UnixServer> server, Deadline deadline) {
  auto asker = std::make_unique<UnixAsker>(path, std::move(server));
  TUTTI_TRY(asker->begin(deadline));
  return create_remote_store(std::move(asker));
}

}  // namespace

Result<std::unique_ptr<Store>> serve_unix_store(const std::string& path, Deadline deadline) {
  TUTTI_ASSIGN(auto server, UnixServer::start(path, deadline));
  return open(path, std::move(server), deadline);
}

Result<std::unique_ptr<Store>> connect_unix_store(const std::string& path, Deadline deadline) {
  return open(path, nullptr, deadline);
}

}  // namespace tutti::bootstrap
